import type { Need } from "./case.ts"

type NeedName =
  | "twoWriters"
  | "reopening"
  | "sync"
  | "noSync"
  | "watch"
  | "noWatch"
  | "replace"
  | "noReplace"
  | "newestFirst"
  | "orderedById"
  | "tearTail"
  | "spoilLine"
  | "crash"
  | "quota"
  | "requestLost"
  | "responseLost"
  | "late"
  | "busy"
  | "across"

/** Needs come in pairs where the absence of a power is itself a rule: what a storage cannot do it refuses. */
export const needs: Readonly<Record<NeedName, Need>> = {
  twoWriters: {
    text: 'two writers on one place (capabilities.writers is not "instance")',
    met: (capabilities) => capabilities.writers !== "instance",
  },
  reopening: {
    text: 'a place that outlives its storage object (durability is not "none", or two writers)',
    met: (capabilities) => capabilities.durability !== "none" || capabilities.writers !== "instance",
  },
  sync: { text: "capabilities.sync", met: (capabilities) => capabilities.sync },
  noSync: { text: "a storage without capabilities.sync", met: (capabilities) => !capabilities.sync },
  watch: { text: "capabilities.watch", met: (capabilities) => capabilities.watch },
  noWatch: { text: "a storage without capabilities.watch", met: (capabilities) => !capabilities.watch },
  replace: { text: "capabilities.replace", met: (capabilities) => capabilities.replace },
  noReplace: { text: "a storage without capabilities.replace", met: (capabilities) => !capabilities.replace },
  newestFirst: { text: 'listOrder "updatedAt"', met: (capabilities) => capabilities.listOrder === "updatedAt" },
  orderedById: { text: 'listOrder "id"', met: (capabilities) => capabilities.listOrder === "id" },
  tearTail: { text: "the subject's tearTail()", met: (_, hooks) => hooks.tearTail !== undefined },
  spoilLine: { text: "the subject's spoilLine()", met: (_, hooks) => hooks.spoilLine !== undefined },
  crash: {
    text: 'the subject\'s crash() and durability beyond "none"',
    met: (capabilities, hooks) => hooks.crash !== undefined && capabilities.durability !== "none",
  },
  quota: { text: "the subject's faults.quota()", met: (_, hooks) => hooks.faults?.quota !== undefined },
  requestLost: {
    text: "the subject's faults.requestLost()",
    met: (_, hooks) => hooks.faults?.requestLost !== undefined,
  },
  responseLost: {
    text: "the subject's faults.responseLost()",
    met: (_, hooks) => hooks.faults?.responseLost !== undefined,
  },
  late: { text: "the subject's faults.late()", met: (_, hooks) => hooks.faults?.late !== undefined },
  busy: { text: "the subject's faults.busy()", met: (_, hooks) => hooks.faults?.busy !== undefined },
  across: {
    text: "another adapter on the same places, the subject's `across`",
    met: (_, hooks) => (hooks.across?.length ?? 0) > 0,
  },
}

export function both(a: Need, b: Need): Need {
  return {
    text: `${a.text}, and ${b.text}`,
    met: (capabilities, hooks) => a.met(capabilities, hooks) && b.met(capabilities, hooks),
  }
}
