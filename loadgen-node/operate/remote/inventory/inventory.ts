/** Where longhaul on a host comes from. */
export type PackageSource =
  /** `npm install` on the host, of a tarball of this machine. */
  | { readonly kind: 'npm'; readonly tarball: string }
  /** The tarball, or without one this installation's own files, and this installation's dependencies. */
  | { readonly kind: 'copy'; readonly tarball: string | undefined }
  /** An installation that is there already, and is only checked. */
  | { readonly kind: 'command'; readonly command: string };

/** What an inventory says about a host, for one of its tasks there. */
export interface HostSpec {
  /** Destination of ssh; undefined: this machine. */
  readonly ssh: string | undefined;
  /** Configuration file for ssh; undefined: the user's own. */
  readonly sshConfig: string | undefined;
  /** In the user's words: `~/...`, absolute, or below the home folder. */
  readonly folder: string;
  readonly nodePath: string;
  readonly nodeFlags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** CPUs as taskset has them. */
  readonly pin: string | undefined;
  readonly source: PackageSource;
  /** `hosts.yaml:3:5`, for messages. */
  readonly place: string;
}

/** A SUT node of an inventory. */
export interface NodeSpec {
  readonly name: string;
  /** As the LoadGen node reaches it. */
  readonly address: string;
  /** As the node listens. */
  readonly listen: string;
  /** Settings of `longhaul sut` in file form, checked. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly host: HostSpec;
}

/** What encrypts the connections between the halves. */
export type TlsSpec =
  | { readonly kind: 'off' }
  /** Certificates that are made when they are missing, or for other addresses. */
  | { readonly kind: 'made'; readonly folder: string }
  /** Certificates of the user's own, in the layout of make-certificates.sh. */
  | { readonly kind: 'folder'; readonly folder: string };

/** A measuring network of bare machines, complete and checked. */
export interface Inventory {
  readonly path: string;
  readonly loadgen: HostSpec;
  readonly nodes: readonly NodeSpec[];
  /** Settings of `longhaul run` in file form, checked; those that nobody set are absent. */
  readonly run: Readonly<Record<string, unknown>>;
  readonly tls: TlsSpec;
  readonly readyTimeoutMs: number;
  readonly stopTimeoutMs: number;
  readonly installTimeoutMs: number;
}

/** Entries with an equal text share a connection. */
export function hostKey({ ssh, sshConfig, folder, nodePath }: HostSpec): string {
  return JSON.stringify([ssh ?? null, sshConfig ?? null, folder, nodePath]);
}

/** How messages call a host. */
export function hostLabel({ ssh }: HostSpec): string {
  return ssh ?? 'this machine';
}
