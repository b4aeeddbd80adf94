import { expect, it } from 'vitest';
import { repositoryText } from '../../scenes/host/repository.ts';

// Goal: "npm ci" downloads nothing but packages. Method: the lock file's marks, by which npm before
// 12 runs install scripts.

interface Lock {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
}

it('marks no install script of ONNX Runtime, which would load GPU libraries from another server', () => {
  const { packages } = JSON.parse(repositoryText('package-lock.json')) as Lock;
  expect(packages['node_modules/onnxruntime-node']).toBeDefined();
  expect(packages['node_modules/onnxruntime-node']?.hasInstallScript).toBeUndefined();
});
