/** The requirements of cases: capabilities of the storage and features of the subject. */
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
  | "deleteIf"
  | "newestFirst"
  | "orderedById"
  | "tearTail"
  | "corruptLine"
  | "corruptHead"
  | "contains"
  | "crash"
  | "quota"
  | "requestLost"
  | "responseLost"
  | "late"
  | "busy"
  | "removal"
  | "across"
  | "network"

/** An optional method has two needs, with it and without it, because a storage must refuse what it does not support. */
export const needs: Readonly<Record<NeedName, Need>> = {
  twoWriters: {
    text: 'two writers on one location (capabilities.writers is not "instance")',
    met: (capabilities) => capabilities.writers !== "instance",
  },
  reopening: {
    text: 'a location that outlives its storage object (durability is not "none", or two writers)',
    met: (capabilities) => capabilities.durability !== "none" || capabilities.writers !== "instance",
  },
  sync: { text: "capabilities.sync", met: (capabilities) => capabilities.sync },
  noSync: { text: "a storage without capabilities.sync", met: (capabilities) => !capabilities.sync },
  watch: { text: "capabilities.watch", met: (capabilities) => capabilities.watch },
  noWatch: { text: "a storage without capabilities.watch", met: (capabilities) => !capabilities.watch },
  replace: { text: "capabilities.replace", met: (capabilities) => capabilities.replace },
  noReplace: { text: "a storage without capabilities.replace", met: (capabilities) => !capabilities.replace },
  deleteIf: { text: "capabilities.deleteIf", met: (capabilities) => capabilities.deleteIf === true },
  newestFirst: { text: 'listOrder "updatedAt"', met: (capabilities) => capabilities.listOrder === "updatedAt" },
  orderedById: { text: 'listOrder "id"', met: (capabilities) => capabilities.listOrder === "id" },
  tearTail: { text: "the subject's tearTail()", met: (_, features) => features.tearTail !== undefined },
  corruptLine: { text: "the subject's corruptLine()", met: (_, features) => features.corruptLine !== undefined },
  corruptHead: { text: "the subject's corruptHead()", met: (_, features) => features.corruptHead !== undefined },
  contains: { text: "the subject's contains()", met: (_, features) => features.contains !== undefined },
  crash: {
    text: 'the subject\'s crash() and durability beyond "none"',
    met: (capabilities, features) => features.crash !== undefined && capabilities.durability !== "none",
  },
  quota: { text: "the subject's faults.quota()", met: (_, features) => features.faults?.quota !== undefined },
  requestLost: {
    text: "the subject's faults.requestLost()",
    met: (_, features) => features.faults?.requestLost !== undefined,
  },
  responseLost: {
    text: "the subject's faults.responseLost()",
    met: (_, features) => features.faults?.responseLost !== undefined,
  },
  late: { text: "the subject's faults.late()", met: (_, features) => features.faults?.late !== undefined },
  busy: { text: "the subject's faults.busy()", met: (_, features) => features.faults?.busy !== undefined },
  removal: { text: "the subject's faults.removal()", met: (_, features) => features.faults?.removal !== undefined },
  across: {
    text: "another adapter on the same locations, the subject's `across`",
    met: (_, features) => (features.across?.length ?? 0) > 0,
  },
  network: { text: "the subject's network", met: (_, features) => features.network !== undefined },
}

export function both(a: Need, b: Need): Need {
  return {
    text: `${a.text}, and ${b.text}`,
    met: (capabilities, features) => a.met(capabilities, features) && b.met(capabilities, features),
  }
}
