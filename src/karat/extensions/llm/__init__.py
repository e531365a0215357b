"""Ask chat models of any provider: one answer, or many with a cache and a spending limit."""
