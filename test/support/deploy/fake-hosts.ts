import { readdirSync } from 'node:fs';
import { create } from 'tar';
import type {
  AgentEvent,
  AgentRequest,
  HostFacts,
  ListedFile,
} from '../../../loadgen-node/operate/remote/agent/agent-words.ts';
import type {
  AgentCall,
  AgentCallEnd,
  CallOptions,
  HostLink,
} from '../../../loadgen-node/operate/remote/hosts/host-link.ts';

/** A call as the fake agent sees it. */
export interface FakeCall {
  readonly request: AgentRequest;
  /** What the controller said, in order. */
  readonly words: string[];
  tell(event: AgentEvent): void;
  output(data: Buffer | string): void;
  end(code?: number | null): void;
  /** Called with each word. */
  onWord(take: (word: string) => void): void;
}

/** What a fake host does when it is asked for something. */
export type Behaviour = {
  readonly [V in AgentRequest['verb']]?: (call: FakeCall) => void;
};

const FACTS: HostFacts = {
  ...{ nodeVersion: process.versions.node, nodePath: '/usr/bin/node' },
  ...{ platform: process.platform, arch: process.arch, hostname: 'fake', bootId: '' },
  ...{ folder: '/home/fake/longhaul', folderProblem: '', freeBytes: 1e12 },
  ...{ hasTar: true, hasNpm: true, hasTaskset: true, installs: {}, states: [] },
  ...{ commandVersion: '0.1.0', user: 'fake' },
};

/** A host without a machine: it does what the test says, and else what a good one does. */
export class FakeHost implements HostLink {
  readonly label: string;
  readonly calls: FakeCall[] = [];
  isClosed = false;
  readonly #behaviour: Behaviour;
  readonly #facts: Partial<HostFacts>;
  readonly #open = new Set<FakeCall>();

  constructor(label: string, behaviour: Behaviour = {}, facts: Partial<HostFacts> = {}) {
    this.label = label;
    this.#behaviour = behaviour;
    this.#facts = facts;
  }

  /** Requests so far, in short. */
  get verbs(): string[] {
    return this.calls.map(({ request }) => request.verb);
  }

  /** The first call of a verb. */
  call_(verb: AgentRequest['verb']): FakeCall {
    const call = this.calls.find(({ request }) => request.verb === verb);
    if (call === undefined) throw new Error(`${this.label} was not asked for ${verb}`);
    return call;
  }

  call(request: AgentRequest, options: CallOptions = {}): AgentCall {
    let finish = (_end: AgentCallEnd): void => {};
    const ended = new Promise<AgentCallEnd>((resolve) => {
      finish = resolve;
    });
    let takeWord = (_word: string): void => {};
    const words: string[] = [];
    const call: FakeCall = {
      ...{ request, words },
      tell: (event) => options.onEvent?.(event),
      output: (data) => options.onOutput?.(Buffer.from(data)),
      end: (code = 0) => {
        this.#open.delete(call);
        const isGreeted = code !== 255;
        finish({ code, stderr: '', isGreeted, nodeVersion: '20.20.0' });
      },
      onWord: (take) => {
        takeWord = take;
      },
    };
    this.calls.push(call);
    this.#open.add(call);
    options.payload?.resume();
    const act = this.#behaviour[request.verb] ?? ((one: FakeCall) => this.#obey(one));
    queueMicrotask(() => act(call));
    return {
      ended,
      say: (word) => {
        words.push(word);
        takeWord(word);
      },
    };
  }

  explain(): string {
    return 'no way to it';
  }

  close(): Promise<void> {
    this.isClosed = true;
    for (const call of this.#open) call.end(null);
    return Promise.resolve();
  }

  #obey(call: FakeCall): void {
    const { request } = call;
    if (request.verb === 'facts') {
      call.tell({ event: 'facts', facts: { ...FACTS, ...this.#facts } });
      return;
    }
    if (request.verb === 'start') {
      const names = request.nodes.map(({ name }) => name);
      for (const event of ['started', 'ready'] as const) {
        for (const node of names) call.tell({ event, node, processId: 77 });
      }
      call.onWord((word) => {
        if (word === 'stop') {
          for (const node of names) call.tell({ event: 'stopped', node, how: 'drained' });
        }
        done(call);
      });
      return;
    }
    if (request.verb === 'install') call.tell({ event: 'installed', main: '/main.js' });
    if (request.verb === 'stop') {
      for (const node of request.names) call.tell({ event: 'stopped', node, how: 'drained' });
    }
    if (request.verb === 'list') call.tell({ event: 'files', files: [] });
    done(call);
  }
}

function done(call: FakeCall): void {
  call.tell({ event: 'done' });
  call.end();
}

/** Behaviour of a host that has a folder of results. */
export function withResults(folder: string, files: readonly ListedFile[]): Behaviour {
  return {
    list: (call) => {
      const { request } = call;
      const isResult = request.verb === 'list' && request.path.includes('/results/');
      call.tell({ event: 'files', files: isResult ? files : [] });
      done(call);
    },
    fetch: (call) => {
      const packed = create({ gzip: true, sync: true, cwd: folder }, readdirSync(folder));
      call.output(packed.read() ?? Buffer.alloc(0));
      call.end();
    },
  };
}
