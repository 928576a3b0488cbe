"""kipql in a notebook: `%load_ext kipql.notebook`, then `%kql brain.kip` and cells that begin with `%%kql`."""

from kipql.fronts.notebook import Drawn, load_ipython_extension, unload_ipython_extension

__all__ = ["Drawn", "load_ipython_extension", "unload_ipython_extension"]
