"""The commands of a service, and those that use one."""
