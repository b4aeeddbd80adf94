import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suiteFolder } from '../../scenes/host/folders.ts';

/** True where `openssl` is installed; without it tests of TLS are skipped, and say so. */
export const HAS_OPENSSL: boolean = canRun('openssl', ['version']);

/** A certificate and its key as files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Certificates for tests, made now: nothing that could expire or leak lies in the repository. */
export class TestCertificates {
  readonly folder: string = suiteFolder();
  /** Authority that signed everything below. */
  readonly ca: string;
  /** An authority that signed nothing. */
  readonly otherCa: string;
  /** For 127.0.0.1, localhost and sut.test. */
  readonly node: CertificateFiles;
  /** The same, out of time since yesterday. */
  readonly expired: CertificateFiles;
  readonly client: CertificateFiles;
  /** A client's of the other authority. */
  readonly stranger: CertificateFiles;

  constructor() {
    const ca = this.#authority('ca');
    this.ca = ca.cert;
    const other = this.#authority('other');
    this.otherCa = other.cert;
    const names = 'DNS:localhost,DNS:sut.test,IP:127.0.0.1';
    this.node = this.#signed('node', ca, { names, days: 2 });
    this.expired = this.#signed('expired', ca, { names, days: -1 });
    const client = { names: 'DNS:loadgen.test', days: 2 };
    this.client = this.#signed('client', ca, client);
    this.stranger = this.#signed('stranger', other, client);
  }

  /** A file with these contents. */
  write(name: string, text: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, text);
    return file;
  }

  #authority(name: string): CertificateFiles {
    const files = this.#files(name);
    const subject = ['-subj', `/CN=authority ${name}`, '-days', '2'];
    openssl('req', '-x509', ...NEW_KEY, '-keyout', files.key, '-out', files.cert, ...subject);
    return files;
  }

  #signed(
    name: string,
    ca: CertificateFiles,
    { names, days }: { readonly names: string; readonly days: number },
  ): CertificateFiles {
    const files = this.#files(name);
    const request = join(this.folder, `${name}.csr`);
    const extension = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
    openssl('req', ...NEW_KEY, '-keyout', files.key, '-out', request, ...extension);
    const signer = ['-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial'];
    const rest = ['-days', String(days), '-copy_extensions', 'copy', '-out', files.cert];
    openssl('x509', '-req', '-in', request, ...signer, ...rest);
    return files;
  }

  #files(name: string): CertificateFiles {
    return { cert: join(this.folder, `${name}.pem`), key: join(this.folder, `${name}.key`) };
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

export function canRun(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
