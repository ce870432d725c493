"""How many labels it takes: for an interval of a wanted width, or until a bound passes a threshold.

All of it supposes that the point value stays as it is and only the number of labels grows. Proportions follow Wilson's
interval. Statistics with a standard error (κ, concordance, correlations) follow Fisher's z, with an error that shrinks
with the root of the number of labels; a standard error that is robust against clusters stays so. None means that no
number of labels would do.
"""

from __future__ import annotations

import math

from .normal import two_sided_z

__all__ = [
    "labels_for_fisher_bound",
    "labels_for_fisher_width",
    "labels_for_perfect_kappa_bound",
    "labels_for_proportion_bound",
    "labels_for_proportion_width",
    "still_needed",
]


def labels_for_proportion_width(
    rate: float, half_width: float, level: float = 0.95, design_effect: float = 1.0
) -> int | None:
    """The labels for which Wilson's interval around `rate` is at most `half_width` to either side, on average.

    >>> labels_for_proportion_width(0.5, 0.05)
    381
    """
    _check("a rate", rate, 0.0, 1.0)
    _check_width(half_width)
    if half_width >= 0.5:
        return 1
    # With w = z²/n, the half width is x where (1/4 - x²) w² + (r(1-r) - 2x²) w - x² = 0.
    square = half_width**2
    slope = rate * (1.0 - rate) - 2.0 * square
    weight = 2.0 * square / (slope + math.sqrt(slope**2 + (1.0 - 4.0 * square) * square))
    return _at_least(two_sided_z(level) ** 2 / weight * design_effect)


def labels_for_proportion_bound(
    rate: float, threshold: float, level: float = 0.95, design_effect: float = 1.0
) -> int | None:
    """The labels for which Wilson's lower bound reaches a threshold below `rate`, or the upper falls below one above.

    >>> labels_for_proportion_bound(0.9, 0.8), labels_for_proportion_bound(0.8, 0.8)
    (62, None)
    """
    _check("a rate", rate, 0.0, 1.0)
    _check_inside("a threshold of a rate", threshold, 0.0)
    if rate == threshold:
        return None
    needed = two_sided_z(level) ** 2 * threshold * (1.0 - threshold) / (rate - threshold) ** 2
    return _passing(needed * design_effect, rate, threshold)


def labels_for_fisher_width(value: float, se: float, n: int, half_width: float, level: float = 0.95) -> int | None:
    """The labels for which the interval on Fisher's z is at most `half_width` to either side, on average.

    `se` is the standard error at `n` labels. None where it is 0: then it cannot tell how errors shrink.
    """
    _check_width(half_width)
    spread = _fisher_spread(value, se, n, level)
    if spread == 0.0:
        return None
    if half_width >= 1.0:
        return 1
    # (tanh(a+h) - tanh(a-h)) / 2 = sinh 2h / (cosh 2a + cosh 2h), solved for h.
    product = half_width * math.cosh(2.0 * math.atanh(value))
    half = math.log((product + math.sqrt(product**2 + 1.0 - half_width**2)) / (1.0 - half_width)) / 2.0
    return _at_least((spread / half) ** 2)


def labels_for_fisher_bound(value: float, se: float, n: int, threshold: float, level: float = 0.95) -> int | None:
    """The labels for which the lower bound on Fisher's z reaches a threshold below `value`, or the upper falls below
    one above; `se` is the standard error at `n` labels. None where it is 0, or where the value is the threshold.

    >>> labels_for_fisher_bound(0.7, 0.1, n=50, threshold=0.6)
    244
    """
    _check_inside("a threshold", threshold, -1.0)
    spread = _fisher_spread(value, se, n, level)
    if spread == 0.0 or value == threshold:
        return None
    return _passing((spread / (math.atanh(value) - math.atanh(threshold))) ** 2, value, threshold)


def labels_for_perfect_kappa_bound(
    chance: float, threshold: float, level: float = 0.95, design_effect: float = 1.0
) -> int | None:
    """The labels for which κ = 1 has a lower bound at the threshold; `chance` is the agreement expected by chance.

    Its lower bound is (p - chance) / (1 - chance), with p the lower bound of an agreement of 1.

    >>> labels_for_perfect_kappa_bound(0.5, 0.6)
    16
    """
    _check_inside("the agreement by chance", chance, -1.0)
    _check_inside("a threshold", threshold, -1.0)
    agreement = threshold * (1.0 - chance) + chance
    return labels_for_proportion_bound(1.0, agreement, level, design_effect) if agreement > 0.0 else 1


def still_needed(total: int | None, present: int, share: float = 1.0) -> int | None:
    """The labels that are missing; `share` is the part of new labels that counts, such as that of positive ones.

    >>> still_needed(100, 60, share=0.25)
    160
    """
    _check("a share", share, 0.0, 1.0)
    if total is None or total <= present:
        return total if total is None else 0
    return math.ceil((total - present) / share) if share > 0.0 else None


def _fisher_spread(value: float, se: float, n: int, level: float) -> float:
    """Half the interval's width on Fisher's scale, for one label."""
    _check("a value", value, -1.0, 1.0)
    if se < 0.0 or n < 1:
        raise ValueError(f"a standard error cannot be negative, and needs labels; found {se} at {n}")
    # At the ends of the scale, Fisher's z is infinite: there is no error that could shrink.
    return two_sided_z(level) * se * math.sqrt(n) / (1.0 - value**2) if abs(value) < 1.0 else 0.0


def _passing(needed: float, value: float, threshold: float) -> int | None:
    """A lower bound may equal the threshold, an upper bound must be below it."""
    return _at_least(needed) if value > threshold else _at_least(math.nextafter(needed, math.inf))


def _at_least(needed: float) -> int | None:
    return max(1, math.ceil(needed)) if math.isfinite(needed) else None


def _check(what: str, number: float, least: float, most: float) -> None:
    if not least <= number <= most:
        raise ValueError(f"{what} lies between {least:g} and {most:g}; found {number!r}")


def _check_inside(what: str, number: float, least: float) -> None:
    if not least < number < 1.0:
        raise ValueError(f"{what} lies between {least:g} and 1, both excluded; found {number!r}")


def _check_width(half_width: float) -> None:
    if not half_width > 0.0:
        raise ValueError(f"the half width of an interval must be positive; found {half_width!r}")
