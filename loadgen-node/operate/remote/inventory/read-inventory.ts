import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { FileValue } from '../../../../shared/config/config-file.ts';
import { inspectSettings } from '../../../../shared/config/resolve-settings.ts';
import type { SettingTable, SettingValues } from '../../../../shared/config/setting.ts';
import { splitAddress } from '../../../../shared/domain/node-address.ts';
import type { HostSpec, Inventory, NodeSpec, PackageSource, TlsSpec } from './inventory.ts';
import {
  type HostValues,
  INVENTORY_KEYS,
  LOADGEN_KEYS,
  NODE_KEYS,
  OWN_RUN_KEYS,
  OWN_SUT_KEYS,
  without,
} from './inventory-tables.ts';
import { readYamlMap, type YamlMap } from './yaml-map.ts';

const FOLDER_DEFAULT = '~/longhaul-remote';
const TLS_FOLDER = 'longhaul-tls';

/** Tables of the settings of the two verbs, and what flags say about the run. */
export interface InventoryTables {
  readonly run: SettingTable;
  readonly sut: SettingTable;
  readonly runFlags: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads an inventory and checks all of it: nothing has been touched when something is wrong.
 * @throws MlperfError `ERR_CONFIG_FILE`; `ERR_CONFIG_INVALID` with a line for everything that is wrong
 */
export function readInventory(path: string, tables: InventoryTables): Inventory {
  return new InventoryReader(path, tables).read(readYamlMap(path));
}

class InventoryReader {
  readonly #path: string;
  readonly #tables: InventoryTables;
  readonly #problems: string[] = [];

  constructor(path: string, tables: InventoryTables) {
    this.#path = path;
    this.#tables = tables;
  }

  read(root: YamlMap): Inventory {
    const top = this.#check('the inventory', root, INVENTORY_KEYS);
    const loadgenMap = root.mapAt('loadgen');
    const loadgen = loadgenMap && this.#host(loadgenMap, top, 'loadgen');
    const common = this.#sutSettings(root.mapAt('sutSettings'), 'sutSettings');
    const nodes = root.mapsAt('sut').flatMap((map) => this.#node(map, top, common) ?? []);
    this.#checkUnique(nodes);
    const run = this.#run(root.mapAt('run'), nodes);
    if (this.#problems.length > 0 || loadgen === undefined) {
      throw new MlperfError('ERR_CONFIG_INVALID', [...this.#problems].sort(byPlace).join('\n'));
    }
    return {
      ...{ path: this.#path, loadgen, nodes, run },
      tls: this.#tls(top.tls),
      readyTimeoutMs: top.readyTimeout / 1e6,
      stopTimeoutMs: top.stopTimeout / 1e6,
      installTimeoutMs: top.installTimeout / 1e6,
    };
  }

  /** Checks the keys and values of a map; what is wrong is kept, what is good is returned. */
  #check<T extends SettingTable>(section: string, map: YamlMap, table: T): SettingValues<T> {
    const sources = { section, file: map.values, flags: {} };
    const { values, problems } = inspectSettings(table, sources);
    this.#problems.push(...problems);
    for (const [key, setting] of Object.entries(table)) {
      if (!setting.isRequired || map.values.has(key)) continue;
      this.#problems.push(`${map.place}: "${key}" is needed in ${section}: ${setting.help}`);
    }
    return values;
  }

  #host(map: YamlMap, top: HostDefaults, role: 'loadgen' | 'sut'): HostSpec | undefined {
    const own: HostValues = this.#check(
      role === 'loadgen' ? 'loadgen' : 'an entry of sut',
      map,
      role === 'loadgen' ? LOADGEN_KEYS : NODE_KEYS,
    );
    const { ssh, local } = own;
    // A destination that is wrong was told already.
    if (map.values.has('ssh') === (map.values.get('local')?.value === true)) {
      const message = 'one of "ssh: destination" and "local: true" is needed, and not both';
      this.#problems.push(`${map.place}: ${message}`);
      return undefined;
    }
    if (ssh === undefined && local !== true) return undefined;
    return {
      ssh,
      sshConfig: top.sshConfig === undefined ? undefined : this.#local(top.sshConfig),
      folder: own.folder ?? top.folder ?? FOLDER_DEFAULT,
      nodePath: own.nodePath ?? top.nodePath ?? 'node',
      nodeFlags: own.nodeFlags ?? top.nodeFlags ?? [],
      environment: { ...top.environment, ...own.environment },
      pin: own.pin ?? top.pin,
      source: this.#source(map.place, own, top, role),
      place: map.place,
    };
  }

  #source(
    place: string,
    own: HostValues,
    top: HostDefaults,
    role: 'loadgen' | 'sut',
  ): PackageSource {
    // A package of the entry itself is meant instead of a command of all.
    const command = own.command ?? (own.package === undefined ? top.command : undefined);
    const nodeFlags = own.nodeFlags ?? top.nodeFlags;
    if (command !== undefined) {
      if (own.package !== undefined) {
        this.#problems.push(`${place}: "command" and "package" exclude each other`);
      }
      if (nodeFlags !== undefined) {
        const hint = 'its own first line decides: say NODE_OPTIONS in "environment"';
        this.#problems.push(`${place}: "nodeFlags" have no effect on "command"; ${hint}`);
      }
      return { kind: 'command', command };
    }
    const named = own.package ?? top.package;
    const file = typeof named === 'object' ? named[role] : named;
    const tarball = file === undefined ? undefined : this.#local(file);
    const install = own.install ?? top.install ?? (tarball === undefined ? 'copy' : 'npm');
    if (install === 'copy') return { kind: 'copy', tarball };
    if (tarball !== undefined) return { kind: 'npm', tarball };
    this.#problems.push(`${place}: "install: npm" needs "package": a tarball by "npm pack"`);
    return { kind: 'copy', tarball: undefined };
  }

  #node(
    map: YamlMap,
    top: HostDefaults,
    common: ReadonlyMap<string, FileValue>,
  ): NodeSpec | undefined {
    const host = this.#host(map, top, 'sut');
    const own = this.#sutSettings(map.mapAt('settings'), 'settings');
    const raw = (key: string): string => String(map.values.get(key)?.value ?? '');
    const [name, address] = [raw('node'), raw('address')];
    const merged = new Map([...common, ...own]);
    const settings = Object.fromEntries([...merged].map(([key, { value }]) => [key, value]));
    if (settings['benchmark'] === undefined && name !== '') {
      const message = `"benchmark" of ${name} is needed, in its "settings" or in "sutSettings"`;
      this.#problems.push(`${map.place}: ${message}`);
    }
    if (host === undefined || splitAddress(address) === undefined) return undefined;
    const listen = map.values.has('listen') ? raw('listen') : listenOf(address);
    return { name, address, listen, settings, host };
  }

  #sutSettings(map: YamlMap | undefined, section: string): ReadonlyMap<string, FileValue> {
    if (map === undefined) return new Map();
    const file = this.#withoutOwn(map.values, OWN_SUT_KEYS);
    const table = without(this.#tables.sut, OWN_SUT_KEYS);
    this.#problems.push(...inspectSettings(table, { section, file, flags: {} }).problems);
    return file;
  }

  #run(map: YamlMap | undefined, nodes: readonly NodeSpec[]): Record<string, unknown> {
    const file = new Map(this.#withoutOwn(map?.values ?? new Map(), OWN_RUN_KEYS));
    // What the nodes serve is what is measured, where nothing else is said.
    const served = [...new Set(nodes.map(({ settings }) => settings['benchmark']))];
    if (!file.has('benchmark') && served.length === 1 && served[0] !== undefined) {
      file.set('benchmark', { value: served[0], place: 'benchmark of the SUT nodes' });
    }
    const table = without(this.#tables.run, OWN_RUN_KEYS);
    const flags = this.#tables.runFlags;
    const checked = inspectSettings(table, { section: 'run', file, flags });
    this.#problems.push(...checked.problems, ...checked.missing);
    const said = checked.settings.filter(
      ({ raw, source }) => raw !== undefined && source !== 'default',
    );
    return Object.fromEntries(said.map(({ key, raw }) => [key, raw]));
  }

  #withoutOwn(
    values: ReadonlyMap<string, FileValue>,
    own: Readonly<Record<string, string>>,
  ): ReadonlyMap<string, FileValue> {
    const isOwn = (key: string): boolean => Object.hasOwn(own, key);
    for (const [key, { place }] of values) {
      if (isOwn(key)) this.#problems.push(`${place}: "${key}" is not said here: ${own[key]}`);
    }
    return new Map([...values].filter(([key]) => !isOwn(key)));
  }

  #checkUnique(nodes: readonly NodeSpec[]): void {
    for (const key of ['name', 'address'] as const) {
      const seen = new Set<string>();
      for (const node of nodes) {
        if (seen.has(node[key])) {
          this.#problems.push(`${node.host.place}: another node has the ${key} ${node[key]}`);
        }
        seen.add(node[key]);
      }
    }
  }

  #tls(tls: string | { folder: string }): TlsSpec {
    if (typeof tls === 'object') return { kind: 'folder', folder: this.#local(tls.folder) };
    return tls === 'made' ? { kind: 'made', folder: this.#local(TLS_FOLDER) } : { kind: 'off' };
  }

  /** Paths of this machine are relative to the inventory. */
  #local(path: string): string {
    return resolve(dirname(this.#path), path);
  }
}

/** In the order of the file; what has no place there comes last. */
function byPlace(a: string, b: string): number {
  const placeOf = (text: string): number => {
    const [, line, column] = /:(\d+):(\d+): /.exec(text) ?? [];
    return line === undefined ? Number.POSITIVE_INFINITY : Number(line) * 1e6 + Number(column);
  };
  const [first, second] = [placeOf(a), placeOf(b)];
  return first === second ? 0 : first - second;
}

type HostDefaults = SettingValues<typeof INVENTORY_KEYS>;

/** An IP address is listened on as it is: no other interface is opened. A name may be another one on the host. */
function listenOf(address: string): string {
  const { host, port } = splitAddress(address) ?? { host: '', port: 0 };
  if (isIP(host) !== 0) return address;
  return host === 'localhost' ? `127.0.0.1:${port}` : `0.0.0.0:${port}`;
}
