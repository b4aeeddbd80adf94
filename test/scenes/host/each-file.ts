import { afterAll } from 'vitest';
import { removeSuiteFolders } from './folders.ts';

// A setup file, which Vitest evaluates before each test file, while modules stay loaded without
// isolation.
afterAll(removeSuiteFolders);
