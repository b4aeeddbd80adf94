import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suiteFolder } from '../host/folders.ts';

/** True where `openssl` is installed; without it tests of TLS are skipped, and say so. */
export const HAS_OPENSSL: boolean = canRun('openssl', ['version']);

/** A certificate and its key as files. */
interface CertificateFiles {
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
    this.ca = this.#authority('ca');
    this.otherCa = this.#authority('other');
    const names = 'DNS:localhost,DNS:sut.test,IP:127.0.0.1';
    this.node = this.#signed('node', 'ca', names);
    this.expired = this.#signed('expired', 'ca', names, -1);
    this.client = this.#signed('client', 'ca', 'DNS:loadgen.test');
    this.stranger = this.#signed('stranger', 'other', 'DNS:loadgen.test');
  }

  /** A file with these contents. */
  write(name: string, text: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, text);
    return file;
  }

  #authority(name: string): string {
    const { cert, key } = this.#files(name);
    const subject = ['-subj', `/CN=authority ${name}`, '-days', '2'];
    openssl('req', '-x509', ...NEW_KEY, '-keyout', key, '-out', cert, ...subject);
    return cert;
  }

  #signed(name: string, authority: string, names: string, days = 2): CertificateFiles {
    const files = this.#files(name);
    const signer = this.#files(authority);
    const request = join(this.folder, `${name}.csr`);
    const extension = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
    openssl('req', ...NEW_KEY, '-keyout', files.key, '-out', request, ...extension);
    const by = ['-CA', signer.cert, '-CAkey', signer.key, '-CAcreateserial'];
    const rest = ['-days', String(days), '-copy_extensions', 'copy', '-out', files.cert];
    openssl('x509', '-req', '-in', request, ...by, ...rest);
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
