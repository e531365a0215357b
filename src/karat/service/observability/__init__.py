"""Logs, metrics, traces and correlation ids of the service."""
