"""The engine of a Dask cluster."""

from concord.lake.coordinator import Coordinator, LakeProgress


async def run(coordinator: Coordinator) -> LakeProgress:
    """Judge a plan with the workers of a Dask cluster."""
    raise NotImplementedError
