/** The rules of a lease, each taken out in turn, and what a history then shows. */
import type { NewEntry } from "../src/format/new-entry.ts"
import type { DocStore } from "../src/storage/contract.ts"
import type { TurnLease } from "../src/write/types.ts"
import type { Variant } from "./lease-simulation.ts"

export const VARIANTS: Readonly<Record<string, { readonly variant: Variant; readonly found: RegExp }>> = {
  "the fence is in the log before the context is read": {
    variant: { live: (live) => replaced(live, { append: withoutFence(live as Appending) }) },
    found: /branches|mixed up|was written in the turn|has not read/,
  },
  "a retry looks for a higher fence first": {
    variant: { live: (live) => replaced(live, { turns: unguarded((live as { turns: object }).turns, blind) }) },
    found: /was written in the turn|mixed up/,
  },
  "a fence counts however it was read": {
    variant: {
      live: (live) => replaced(live, { turns: unguarded((live as { turns: object }).turns, blindToReading) }),
    },
    found: /was written in the turn|mixed up/,
  },
  "the context is read in the turn": { variant: { readsBefore: true }, found: /has not read/ },
  "a lease is waited for": { variant: { now: (ms) => ms * 1_000 }, found: /the lease was taken/ },
  "each renewal changes the document": {
    variant: { docs: (docs) => changed(docs, (text) => text.replace(/"count":\d+/, '"count":0')) },
    found: /the lease was taken/,
  },
  "the document is compared before it is set": {
    variant: {
      docs: (docs) => ({
        ...docs,
        put: async (key, text, o) => docs.put(key, text, { ...o, expect: (await docs.get(key))?.version ?? null }),
      }),
    },
    found: /the lease was taken|the fence/,
  },
  "the lease ends with the turn": {
    variant: {
      docs: (docs) => ({
        ...docs,
        put: async (key, text, o) => (text.includes("held") ? docs.put(key, text, o) : text),
      }),
    },
    found: /has not ended/,
  },
  "a lease is renewed": {
    variant: {
      docs: (docs) => ({
        ...docs,
        put: async (key, text, o) => (/"count":[1-9]/.test(text) ? (o.expect as string) : docs.put(key, text, o)),
      }),
    },
    found: /conflict|lost the lease/,
  },
}

interface Appending {
  append(entries: readonly NewEntry[], o?: object): Promise<unknown>
  refresh(): Promise<unknown>
}

function withoutFence(live: Appending): Appending["append"] {
  return (entries, o) => (entries.some(({ type }) => type === "fence") ? live.refresh() : live.append(entries, o))
}

/** A lock whose lease does not see the fences of others. */
function unguarded(turns: object, without: (lease: TurnLease) => TurnLease): object {
  return new Proxy(turns, {
    get: (target, name) => bound(target, Reflect.get(target, name, target)),
    set: (target, name, value: unknown) =>
      Reflect.set(target, name, name === "lease" && value !== undefined ? without(value as TurnLease) : value),
  })
}

function blind(lease: TurnLease): TurnLease {
  return { ...blindToReading(lease), refuses: () => false }
}

function blindToReading(lease: TurnLease): TurnLease {
  return {
    fence: lease.fence,
    get isLost() {
      return lease.isLost
    },
    error: () => lease.error(),
    admit: (append) => lease.admit(append),
    isEndedBy: () => false,
    refuses: (foreign) => lease.refuses(foreign),
  }
}

function changed(docs: DocStore, change: (text: string) => string): DocStore {
  return { ...docs, put: (key, text, o) => docs.put(key, change(text), o) }
}

function replaced(target: object, members: object): object {
  return new Proxy(target, {
    get: (_, name) => Reflect.get(members, name) ?? bound(target, Reflect.get(target, name, target)),
  })
}

function bound(target: object, value: unknown): unknown {
  return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value
}
