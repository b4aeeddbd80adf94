import { testCacheFolder } from '../host/folders.ts';
import { SutNodeProcess } from '../host/processes.ts';
import { HAS_OPENSSL, TestCertificates } from './certificates.ts';

/**
 * Two node processes of the benchmark null: a plain one, and one with TLS where there is openssl.
 */
export interface NodePair {
  readonly plain: SutNodeProcess;
  readonly withTls: SutNodeProcess | undefined;
  readonly files: TestCertificates | undefined;
  stop(): Promise<void>;
}

export async function startNodePair(): Promise<NodePair> {
  const args = ['--benchmark', 'null', '--cache-dir', testCacheFolder()];
  const plain = await SutNodeProcess.start('sut-a', args);
  const files = HAS_OPENSSL ? new TestCertificates() : undefined;
  const tls = files && ['--tls-cert', files.node.cert, '--tls-key', files.node.key];
  const withTls = tls && (await SutNodeProcess.start('sut-a', [...args, ...tls]));
  const stop = async (): Promise<void> => {
    await plain.stop();
    await withTls?.stop();
  };
  return { plain, withTls, files, stop };
}
