"""The law of the store of a service, part by part."""

from karat.testing.service.suite import ServiceStoreSuite

__all__ = ["ServiceStoreSuite"]
