import type { EfficiencySide } from './side.ts';

/** What a reader of a comparison has to know. */
export function efficiencyNotes(inProcess: EfficiencySide, network: EfficiencySide): string[] {
  const notes = [
    'longhaul is not the C++ LoadGen of an approved revision: none of these numbers is an MLPerf result',
  ];
  const isSame = isSameMachine(inProcess, network);
  const machine = inProcess.machine.hostname;
  if (isSame === false) {
    notes.push(
      `the model in process ran on ${machine}, the SUT node on ${network.machine.hostname}: other machines, or one that was started anew; what differs between them is in the efficiency`,
    );
  }
  notes.push(
    `in process LoadGen and model share the ${inProcess.machine.cpuCount} cores of ${machine}: LoadGen's own work is taken from the model there, and over a network it is not; so a network may have more than 100 %`,
  );
  return notes;
}

/** Where LoadGen itself ran on the SUT's machine. */
export function oneMachineNote(cpuCount: number): string {
  return `one machine: LoadGen, gRPC on both ends and the SUT node share ${cpuCount} cores, over loopback: no network was measured, and on two machines the efficiency is another`;
}

/** Undefined where a machine does not tell. */
function isSameMachine(a: EfficiencySide, b: EfficiencySide): boolean | undefined {
  if (a.machine.bootId === '' || b.machine.bootId === '') return undefined;
  return a.machine.bootId === b.machine.bootId && a.machine.hostname === b.machine.hostname;
}
