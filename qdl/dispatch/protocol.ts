import type { AddressScheme } from '../../shared/config/address-scheme.ts';
import type { SettingTable } from '../../shared/config/setting.ts';
import type { SamplePayloads } from '../../shared/domain/system-under-test.ts';
import type { NameCall } from '../../shared/evidence/evidence-schema.ts';
import type { DispatchSettings, ProtocolSettings } from '../settings/dispatch-settings.ts';
import type { Preparation } from './preparation.ts';
import type { ProtocolDriver } from './query-dispatch-library.ts';
import type { ServerProbe } from './server-probe.ts';

/**
 * Facts of a protocol that the rest of the house asks: audit, notes, report, evidence and settings never ask for its name.
 * A fact says what the messages can carry, not what one server does.
 */
export interface ProtocolTraits {
  /**
   * Who answers: a `sut-node` describes its host, settings and identity; of a `server` only name, version and tensors are known.
   */
  readonly peer: 'sut-node' | 'server';
  /** Carrier of samples: a `part` of a query on a long-lived stream, or a `request` with an answer of its own. */
  readonly message: 'part' | 'request';
  /** Both ends count the run, and the counts are compared at its end. */
  readonly hasLedger: boolean;
  /** Both ends digest a share of the payloads. */
  readonly hasDigests: boolean;
  /** The answer to Name() repeats its question: no proxy or cache can have given it. */
  readonly hasNameEcho: boolean;
  /** A sample's answer tells how long each step took at the SUT. */
  readonly hasDurations: boolean;
  /** Tokens that are told as they come. */
  readonly tokenTimes: 'each' | 'first' | 'none';
  /** The SUT answers a warm-up by itself, without its model, and does not count it. */
  readonly hasWarmUp: boolean;
  /** Samples and responses may be compressed one by one, and a message says so. */
  readonly hasCompression: boolean;
}

/** Words about the bytes of a protocol on a link. */
export interface WireWords {
  /** Layers between its messages and TLS or TCP. */
  readonly transport: string;
  /** Bytes of a message besides its payload. A sentence without its begin, and a stop. */
  readonly framing: string;
  /** Compression of messages on the way, as a sentence begins. Default: by the protocol's title. */
  readonly compression?: string;
  /** Why messages to and from servers are not compressed on the way, in a sentence; empty: nothing shows that. */
  readonly uncompressed: string;
  /** Headers of an answer that tell of nothing between, and who sends them; names in lower case. */
  readonly answerHeaders: { readonly sender: string; readonly names: readonly string[] };
}

/** A protocol's own words, for people. */
export interface ProtocolWords {
  /** The call of a node that LoadGen's Name() makes. */
  readonly nameCall: string;
  /** How requests travel, by the method of their plan; a method that is missing is its own word. */
  readonly methods: Readonly<Record<string, string>>;
  /** Setting that has no idle streams which a server may end; empty: there is none. */
  readonly idleStreams: string;
  readonly wire: WireWords;
  /** The evidence of a run: what it shows and what it does not. Whole sentences. */
  readonly evidence: {
    readonly shown: readonly string[];
    /** On proxies that are not found; may be empty. */
    readonly proxies: string;
    /** Limits of the evidence, or where there is more. */
    readonly beyond: string;
  };
}

/** Values of a verb's settings by their keys; those of a protocol's own options have the types of its table. */
export type ProtocolValues = Readonly<Record<string, unknown>>;

/** Values of a run, of which a protocol looks at some. */
export interface ProtocolRunValues extends ProtocolValues {
  readonly sut: readonly string[];
  /** Given, if samples are to follow the model's inputs. */
  readonly data?: string | undefined;
  readonly inputShape?: readonly string[] | undefined;
}

/** The part of a protocol that connects. */
export interface ProtocolWorks {
  /** Connects nowhere before its first call. */
  open(settings: DispatchSettings, payloads: SamplePayloads): ProtocolDriver;
  /** Asks the nodes for their names, and checks whatever else can be checked before a run. */
  askNames(settings: DispatchSettings): Promise<NameCall>;
}

/** A protocol between LoadGen and SUT, as a value. */
export interface Protocol {
  /** Word in files: audit, summary. Never changes. */
  readonly name: string;
  /** For people, as in `a server of TITLE`. */
  readonly title: string;
  /** Before `://` of an address; null: addresses have no scheme. */
  readonly scheme: string | null;
  /** Words about its addresses. Default: plain ones. */
  readonly addressWords?: Omit<AddressScheme, 'scheme'>;
  readonly traits: ProtocolTraits;
  readonly words: ProtocolWords;
  /** Settings that it has, and not every protocol. */
  readonly options: SettingTable;
  /** Of these, those that verbs need that ask for names alone. */
  readonly nameOptions: SettingTable;
  /**
   * Why a setting of a run has no effect with it, by key, in its own words. One that hangs on no trait is refused by its
   * reason alone.
   */
  readonly reasons?: Readonly<Record<string, string>>;
  /** Its settings of a QDL. @throws MlperfError `ERR_CONFIG_INVALID` */
  settings(values: ProtocolValues): ProtocolSettings;
  /** Its work before a run. @throws MlperfError `ERR_CONFIG_INVALID` */
  plan(values: ProtocolRunValues): Preparation;
  /** @throws MlperfError `ERR_CONFIG_INVALID` for settings that contradict each other over this protocol */
  check(settings: DispatchSettings): void;
  /** True where the messages of a query have headers of their own, which can carry `traceparent` (W3C Trace Context). */
  hasHeaders(settings: DispatchSettings): boolean;
  /** Looks at one server: no load, no inference. Absent: `longhaul probe` is not for it. @throws MlperfError */
  probe?(address: string, settings: DispatchSettings): Promise<ServerProbe>;
  /** Loaded when it is needed: the list of protocols stays light. */
  load(): Promise<ProtocolWorks>;
}
