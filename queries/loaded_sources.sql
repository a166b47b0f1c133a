-- What was loaded: which files, with which hashes, and is any of it simulated?
select
    file,
    archive,
    format,
    rows,
    bytes,
    sha256,
    simulated,
    mapping,
from sources
order by file, archive
