"""Taking what a person brought into a bundle that is there already, without asking any index."""

from pathlib import Path
from zipfile import is_zipfile

from console.bundles import brought, manifest, vendor
from console.bundles.manifest import Entry, Manifest, Missing, Order
from console.hosts.transfer import sha256_of
from console.text import Text, say, verbatim


def take(folder: Path) -> tuple[Manifest, int]:
    """The manifest with every awaited file that is there and right, and how many were added. The manifest is written.

    InvalidInput when the folder holds no bundle. What is wrong with the others, `verify` tells.
    """
    whole = manifest.required(folder)
    added, missing = [], []
    for one in whole.missing:
        path = there(folder, one, whole.order)
        if path is None or wrong_with(path, whole.order) is not None:
            missing.append(one)
        else:
            name = path.relative_to(folder).as_posix()
            added.append(Entry(name, path.stat().st_size, sha256_of(path), one.kind, "brought by hand"))
    if added:
        whole = Manifest(whole.made, whole.order, (*whole.files, *added), tuple(missing))
        manifest.write(folder, whole)
    return whole, len(added)


def there(folder: Path, awaited: Missing, order: Order) -> Path | None:
    """The file that was brought for an entry, by its name; None when there is none, or more than one may be meant."""
    found = [
        path for path in folder.glob(awaited.pattern) if path.is_file() and brought.foreign(path.name, order) is None
    ]
    return found[0] if len(found) == 1 else None


def wrong_with(path: Path, order: Order) -> Text | None:
    """What is wrong with a file that was brought, by its content too; None when nothing is seen."""
    if path.suffix == ".run":
        return vendor.wrong_with(path, order)
    if path.suffix == ".whl" and not is_zipfile(path):
        return say("{name} is no wheel inside, or not whole. Fetch it again.", name=verbatim(path.name))
    return None
