import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encodeJpeg } from '../../../shared/benchmarks/image/jpeg.ts';

/** Grey levels between two classes: what JPEG changes is far less. */
const LEVEL = 20;

/** Image of each class: as grey as {@link classOfPixel} expects. */
const SIZE = { width: 60, height: 48 };

/** An image of a {@link writeTinyImagenet}: its file and its class, 0 to 12. */
export interface TinyImage {
  readonly path: string;
  readonly label: number;
}

/** File and class of the images of a small set: `val_1.JPEG 1`, `val_2.JPEG 2`, ... */
export function tinyImages(count: number, subFolder = ''): TinyImage[] {
  return Array.from({ length: count }, (_, i) => ({
    path: join(subFolder, `val_${i + 1}.JPEG`),
    label: (i + 1) % 13,
  }));
}

/** Writes images and `val_map.txt` into `folder`, as ImageNet's validation set has them. */
export async function writeTinyImagenet(
  folder: string,
  images: readonly TinyImage[],
): Promise<void> {
  for (const { path, label } of images) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const grey = new Uint8Array(SIZE.width * SIZE.height * 3).fill(label * LEVEL);
    writeFileSync(join(folder, path), await encodeJpeg(grey, SIZE, 90));
  }
  const lines = images.map(({ path, label }) => `${path} ${label}\n`);
  writeFileSync(join(folder, 'val_map.txt'), lines.join(''));
}

/** The class of an image as uint8, by one of its bytes: a classifier that is always right. */
export function classOfPixel(byte: number): number {
  return Math.round(byte / LEVEL);
}
