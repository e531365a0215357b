"""Run experiments on the workers of a Dask or Ray cluster."""
