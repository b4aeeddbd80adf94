import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A tree in which single faults are planted; each change can be taken back. Paths are relative to its root. */
export class MutableTree {
  readonly root: string;
  readonly #undo: (() => void)[] = [];
  readonly #aside = mkdtempSync(join(tmpdir(), 'longhaul-aside-'));

  constructor(root: string) {
    this.root = root;
  }

  text(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  write(path: string, text: string | Uint8Array): void {
    const file = join(this.root, path);
    if (existsSync(file)) {
      const before = readFileSync(file);
      this.#undo.push(() => writeFileSync(file, before));
    } else {
      // Folders that are made on the way go with the file.
      let made = file;
      while (!existsSync(dirname(made))) made = dirname(made);
      mkdirSync(dirname(file), { recursive: true });
      this.#undo.push(() => rmSync(made, { recursive: true }));
    }
    writeFileSync(file, text);
  }

  /** @throws Error when the text stays as it is: such a fault would not be planted. */
  edit(path: string, change: (text: string) => string): void {
    const before = this.text(path);
    const after = change(before);
    if (after === before) throw new Error(`nothing changed in ${path}`);
    this.write(path, after);
  }

  /** Sets the value of a record of a detail log, given as JSON text; null: takes the record out. */
  record(path: string, key: string, json: string | null): void {
    const line = new RegExp(`^(:::MLLOG \\{"key": "${key}", "value": ).*?(, "time_ms".*)\n`, 'm');
    this.edit(path, (text) => text.replace(line, json === null ? '' : `$1${json}$2\n`));
  }

  /** Changes the object of a JSON file. */
  json(path: string, change: (value: Record<string, unknown>) => void): void {
    this.edit(path, (text) => {
      const value = JSON.parse(text) as Record<string, unknown>;
      change(value);
      return JSON.stringify(value);
    });
  }

  /** Makes a file longer without writing what is in it. */
  lengthen(path: string, bytes: number): void {
    const file = join(this.root, path);
    const before = readFileSync(file);
    this.#undo.push(() => writeFileSync(file, before));
    truncateSync(file, bytes);
  }

  remove(path: string): void {
    const from = join(this.root, path);
    const to = join(this.#aside, String(this.#undo.length));
    renameSync(from, to);
    this.#undo.push(() => renameSync(to, from));
  }

  move(path: string, to: string): void {
    const [from, target] = [join(this.root, path), join(this.root, to)];
    renameSync(from, target);
    this.#undo.push(() => renameSync(target, from));
  }

  copy(path: string, to: string): void {
    const target = join(this.root, to);
    cpSync(join(this.root, path), target, { recursive: true });
    this.#undo.push(() => rmSync(target, { recursive: true }));
  }

  folder(path: string): void {
    const folder = join(this.root, path);
    mkdirSync(folder);
    this.#undo.push(() => rmSync(folder, { recursive: true }));
  }

  link(path: string, target: string): void {
    const file = join(this.root, path);
    symlinkSync(target, file);
    this.#undo.push(() => rmSync(file));
  }

  /** Takes back all changes, the last one first. */
  restore(): void {
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) undo();
  }

  /** After the last use. */
  end(): void {
    rmSync(this.#aside, { recursive: true, force: true });
  }
}
