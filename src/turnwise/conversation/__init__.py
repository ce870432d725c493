"""What was said: values, file resolution, and the views for APIs and for people."""

from .chat import DEFAULT_SYSTEM_PROMPT, ChatMessage, ChatPrompt, with_system
from .conversation import Conversation
from .values import File, Image, Message, Part, Text

__all__ = [
    "DEFAULT_SYSTEM_PROMPT",
    "ChatMessage",
    "ChatPrompt",
    "Conversation",
    "File",
    "Image",
    "Message",
    "Part",
    "Text",
    "with_system",
]
