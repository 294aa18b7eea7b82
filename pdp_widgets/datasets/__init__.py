"""Small data sets with readable names: what the demo and the notebooks look at.

`diabetes` and `penguins` are on the machine already; `bike_rentals` and `cervical` are fetched once from the UCI Machine Learning Repository, or
generated where there is no network.
"""

from .bikes import bike_rentals
from .download import DownloadError
from .patients import cervical
from .shipped import diabetes, penguins

__all__ = ["DownloadError", "bike_rentals", "cervical", "diabetes", "penguins"]
