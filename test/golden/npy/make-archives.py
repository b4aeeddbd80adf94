"""Makes the archives of archives/ with NumPy 2: stored as numpy.savez does, and compressed."""

import io
import pathlib
import zipfile

import numpy as np

folder = pathlib.Path(__file__).parent / 'archives'
folder.mkdir(exist_ok=True)
arrays = {'0': np.arange(6, dtype='<i4').reshape(3, 2), 'names with blanks': np.arange(4, dtype='<f4')}
np.savez(folder / 'stored.npz', **arrays)
np.savez_compressed(folder / 'compressed.npz', **arrays)
# Without ZIP64, and with a comment behind the directory.
with zipfile.ZipFile(folder / 'short.npz', 'w', allowZip64=False) as archive:
    for name, array in arrays.items():
        member = io.BytesIO()
        np.save(member, array)
        archive.writestr(name + '.npy', member.getvalue())
    archive.comment = b'a comment PK\x05\x06 with the mark of an end'
