"""How to ask: providers take requests to models, agents and applications, and bring back answers in one form.

>>> import asyncio
>>> from turnwise.providers import ProviderRequest, open_provider
>>> async def ask() -> str:
...     async with open_provider("mock/Paris.") as provider:
...         response = await provider.ask(ProviderRequest(question="What is the capital of France?"))
...         return response.text
>>> asyncio.run(ask())
'Paris.'
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import (
        HttpRequest,
        Preview,
        Provider,
        ProviderRequest,
        ProviderResponse,
        Rewrite,
        Settings,
        Tool,
        Usage,
    )
    from .cost import cost_usd
    from .mock import MockProvider
    from .opening import Providers, open_provider
    from .prompt import messages_to_send
    from .recording import Recorder
    from .replay import ReplayProvider
    from .requests import request_for

__all__ = [
    "HttpRequest",
    "MockProvider",
    "Preview",
    "Provider",
    "ProviderRequest",
    "ProviderResponse",
    "Providers",
    "Recorder",
    "ReplayProvider",
    "Rewrite",
    "Settings",
    "Tool",
    "Usage",
    "cost_usd",
    "messages_to_send",
    "open_provider",
    "request_for",
]

# Where each name lives; imported when it is first asked for.
_HOMES = {
    "base": (
        "HttpRequest",
        "Preview",
        "Provider",
        "ProviderRequest",
        "ProviderResponse",
        "Rewrite",
        "Settings",
        "Tool",
        "Usage",
    ),
    "cost": ("cost_usd",),
    "mock": ("MockProvider",),
    "opening": ("Providers", "open_provider"),
    "prompt": ("messages_to_send",),
    "recording": ("Recorder",),
    "replay": ("ReplayProvider",),
    "requests": ("request_for",),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
