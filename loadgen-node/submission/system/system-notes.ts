import { counted } from '../../../shared/base/text.ts';
import type { SystemFacts } from '../../../shared/host/system-facts.ts';
import type { Suite } from '../../../shared/rules/rows/model-row.ts';
import { type FactsFile, nameOf, type SutNodeFacts } from './facts-file.ts';
import { memoryText, networkRateText, present } from './host-fields.ts';

/** A machine of the system and its name in notes. */
interface NamedMachine {
  readonly name: string;
  readonly facts: SystemFacts;
}

/** All machines with known facts, the LoadGen node first. */
function machinesOf({ loadgen, sutNodes }: FactsFile): NamedMachine[] {
  const name = sutNodes.length === 0 ? 'this machine' : 'LoadGen node';
  const nodes = sutNodes.flatMap(({ gathered, ...node }) =>
    gathered === null ? [] : [{ name: `SUT node ${nameOf(node)}`, facts: gathered.facts }],
  );
  return [{ name, facts: loadgen.facts }, ...nodes];
}

/** Number of machines with known facts: two nodes, or a node and LoadGen, may share one. */
export function knownMachineCount(file: FactsFile): number {
  return new Set(machinesOf(file).map(({ name, facts }) => facts.bootId ?? name)).size;
}

/**
 * Required notes on the hardware: values read inside a virtual machine or a container, which report
 * what they are given, and the LoadGen node, for which a description has no fields.
 */
export function hardwareNotes(file: FactsFile): string[] {
  const notes = [...sharedNotes(file, virtualMachineNote), ...sharedNotes(file, containerNote)];
  if (file.sutNodes.length === 0) return notes;
  return [`LoadGen node: ${machineText(file.loadgen.facts)}`, ...notes];
}

/** Names by text, in the order of the texts. */
export function namesBy<T extends { readonly name: string }>(
  all: readonly T[],
  textOf: (one: T) => string | null,
): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const one of all) {
    const text = textOf(one);
    if (text !== null) names.set(text, [...(names.get(text) ?? []), one.name]);
  }
  return names;
}

/** A note per machine; machines with the same note share it. */
function sharedNotes(file: FactsFile, noteOf: (facts: SystemFacts) => string | null): string[] {
  const names = namesBy(machinesOf(file), ({ facts }) => noteOf(facts));
  return [...names].map(([note, who]) => `${who.join(', ')}: ${note}`);
}

function virtualMachineNote({ enclosure }: SystemFacts): string | null {
  const { virtualMachine: kind, virtualMachineHow: how } = enclosure;
  return kind && `read inside a virtual machine (${kind}; ${how})`;
}

function containerNote({ enclosure }: SystemFacts): string | null {
  const { container, containerHow, cpuLimit, memoryLimitBytes } = enclosure;
  const limits = present([
    cpuLimit && `${Number(cpuLimit.toFixed(2))} processors`,
    memoryLimitBytes && `${memoryText(memoryLimitBytes)} of memory`,
  ]);
  const limited = limits.map((limit) => `, limited to ${limit}`).join('');
  return container && `read inside a container (${container}; ${containerHow})${limited}`;
}

/** A machine in one line. */
function machineText({ processor, memory, software }: SystemFacts): string {
  const { sockets, model, cores } = processor;
  const parts = present([
    model && `${sockets === null ? '' : `${sockets}x `}${model}`,
    cores && `${cores} cores`,
    memory.totalBytes && `${memoryText(memory.totalBytes)} of memory`,
    software.operatingSystem,
    software.kernel,
  ]);
  return parts.join(', ') || 'unreadable';
}

/**
 * Notes on the software: values that describe a container's image instead of the machine, and how
 * the QDL connects.
 */
export function softwareNotes(file: FactsFile): string[] {
  const text = "the operating system is that of a container's image, the kernel the host's";
  const notes = sharedNotes(file, ({ enclosure }) => enclosure.container && text);
  if (file.sutNodes.length === 0) return notes;
  const control = file.sutNodes.reduce((sum, { link }) => sum + link.controlConnections, 0);
  const note = `${counted(control, 'TCP connection')} for Name, Ready and Describe beside those that carry queries`;
  return [...notes, note];
}

/** Warnings for the submitter before submitting the description, one line each. */
export function systemWarnings(file: FactsFile, suite: Suite): string[] {
  const machines = machinesOf(file);
  const suts = machines.slice(1);
  // A closed system has one machine, which is both.
  const underTest = suts.length === 0 ? machines : suts;
  return [
    ...file.sutNodes.flatMap(linkWarnings),
    ...sharedMachineWarnings(file),
    ...underTest.flatMap((machine) => (suite === 'datacenter' ? eccWarnings(machine) : [])),
    ...present(underTest.map(acceleratorWarning)),
    ...present(machines.map(enclosureWarning)),
    ...present(underTest.map(mixedWarning)),
  ];
}

function linkWarnings(node: SutNodeFacts): string[] {
  const name = nameOf(node);
  const { link, gathered, whyMissing } = node;
  const { isSameMachine } = link;
  const [local, remote] = [link.loadgen.speedMbps, link.sut.speedMbps];
  const nics = gathered?.facts.network.interfaces ?? [];
  return present([
    gathered === null && `SUT node ${name} told no facts: ${whyMissing}`,
    isSameMachine === true &&
      `SUT node ${name} and the LoadGen node are one machine: in the Network division they must be distinct`,
    isSameMachine === null &&
      `whether SUT node ${name} and the LoadGen node are distinct machines is not known`,
    local !== null &&
      remote !== null &&
      local !== remote &&
      `the link to SUT node ${name} has ${networkRateText(local)} at the LoadGen node and ${networkRateText(remote)} at the SUT node`,
    ...nics
      .filter((nic) => link.sut.nics.includes(nic.name) && nic.duplex === 'half')
      .map((nic) => `${nic.name} of SUT node ${name} runs in half duplex`),
  ]);
}

/** Two nodes on one machine count as one node of the system. */
function sharedMachineWarnings({ sutNodes }: FactsFile): string[] {
  const owners = new Map<string, string>();
  return sutNodes.flatMap((node) => {
    const { bootId } = node.gathered?.facts ?? { bootId: null };
    if (bootId === null) return [];
    const [name, other] = [nameOf(node), owners.get(bootId)];
    owners.set(bootId, other ?? name);
    if (other === undefined) return [];
    return [`SUT nodes ${other} and ${name} run on one machine, which counts as one node`];
  });
}

function eccWarnings({ name, facts }: NamedMachine): string[] {
  const eccs = [facts.memory.ecc, ...facts.accelerators.map(({ ecc }) => ecc)];
  return eccs
    .filter(({ state }) => state === 'off')
    .map(({ how }) => `${name}: ECC is off (${how}), and a datacenter system must have it on`);
}

function acceleratorWarning({ name, facts }: NamedMachine): string | null {
  const { accelerators, acceleratorsHow: how } = facts;
  if (accelerators.length > 0) return null;
  return how && `${name}: no accelerator was seen (${how}); say so if it has one`;
}

/** One field covers all accelerators of a node. */
function mixedWarning({ name, facts }: NamedMachine): string | null {
  if (new Set(facts.accelerators.map(({ model }) => model)).size < 2) return null;
  return `the accelerators of ${name} differ: memory, frequency and bus are those of the first`;
}

function enclosureWarning({ name, facts }: NamedMachine): string | null {
  const { container, virtualMachine } = facts.enclosure;
  const where = container ? 'a container' : virtualMachine && 'a virtual machine';
  return (
    where &&
    `${name} was read inside ${where}: check processors, memory, disks and cards against the hardware`
  );
}
