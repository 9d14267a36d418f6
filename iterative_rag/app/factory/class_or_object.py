"""A method that is called on the class or on an object of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Concatenate, Generic, ParamSpec, TypeVar

Owner = TypeVar("Owner")
P = ParamSpec("P")
R = TypeVar("R")


class class_or_object(Generic[Owner, P, R]):
    """Called on the class, the method gets None for `self`."""

    def __init__(self, method: Callable[Concatenate[Owner | None, P], R]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Owner | None, owner: type[Owner]) -> Callable[P, R]:
        bound = partial(self._method, instance)
        update_wrapper(bound, self._method)
        return bound
