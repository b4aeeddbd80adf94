import type { SoftwareEntry, SoftwareMethod } from '../config/config-types.ts';

/** How a method identifies a component. Source: submission_rules, "Possible methods to provide Software". */
export const SOFTWARE_METHOD_TEXTS: Readonly<
  Record<SoftwareMethod, { readonly title: string; readonly by: string }>
> = {
  included: { title: 'source code or binary in this tree', by: 'its place in the tree' },
  github: { title: 'public GitHub repository', by: 'commit or tag' },
  'github-pr': {
    title: 'public GitHub repository and pull requests',
    by: 'commit or tag, numbers of the pull requests',
  },
  binary: { title: 'binary that can be had', by: 'name and version, or URL' },
  'private-source': {
    title: 'private source code',
    by: 'identifier in the internal source control',
  },
  'redacted-source': {
    title: 'partly redacted source code',
    by: 'identifier in the internal source control',
  },
  'private-binary': { title: 'private binary', by: 'checksum' },
};

/** Methods by which every component is open to anybody. */
const OPEN_METHODS: readonly SoftwareMethod[] = ['included', 'github', 'github-pr', 'binary'];

/** Why a component cannot be in a system of this status; undefined: it can. */
export function softwareBreach(entry: SoftwareEntry, status: string): string | undefined {
  const { name, method, release, version, identifier } = entry;
  if (version === undefined && identifier === undefined && method !== 'included') {
    return `${name} has neither "version" nor "identifier": ${SOFTWARE_METHOD_TEXTS[method].title} is known by ${SOFTWARE_METHOD_TEXTS[method].by}`;
  }
  if (status.toLowerCase() !== 'available') return undefined;
  if (!OPEN_METHODS.includes(method)) {
    return `${name} is ${SOFTWARE_METHOD_TEXTS[method].title}, which no system of the category available may use`;
  }
  if (method === 'binary' && release === 'other') {
    return `${name} is a binary that is neither a beta nor a production release, which no system of the category available may use`;
  }
  return undefined;
}
