import { crc32 } from 'node:zlib';

/** An archive of NumPy, stored: an array of one axis for each name. */
export function npzOfDoubles(arrays: Readonly<Record<string, readonly number[]>>): Uint8Array {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, values] of Object.entries(arrays)) {
    const file = Buffer.from(`${name}.npy`);
    const content = npyOf(values);
    // Version, flags, method, time, date, CRC-32, sizes, lengths of name and of nothing else.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(file.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, file, content]);
    const behind = Buffer.alloc(14);
    behind.writeUInt32LE(offset, 10);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, behind, file]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

function npyOf(values: readonly number[]): Buffer {
  const text = `{'descr': '<f8', 'fortran_order': False, 'shape': (${values.length},), }`;
  const header = Buffer.from(`${text.padEnd(117)}\n`);
  const begin = Buffer.from(`\x93NUMPY\x01\x00${String.fromCharCode(header.length)}\x00`, 'latin1');
  return Buffer.concat([begin, header, Buffer.from(Float64Array.from(values).buffer)]);
}
