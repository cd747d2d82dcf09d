import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import { check, Mismatch } from "../helpers/assert.ts"
import { show } from "../helpers/show.ts"
import type { Deliver, Faults, Subject } from "../subject.ts"
import type { Trace } from "./trace.ts"
import { traced } from "./trace.ts"

/** How much a case does. The defaults are for storages that answer in milliseconds; lower them for slow ones. */
export interface Sizes {
  /** Sessions of the case that lists many. Default 1,100: more than the 1,000 that stores give per page. */
  readonly sessions: number
  /** Writers that race. Default 16. */
  readonly race: number
  /** Lines of a long batch. Default 2,000. */
  readonly lines: number
  /** Bytes of a log that takes several chunks. Default 1,500,000. */
  readonly logBytes: number
  /** The length up to which the line and batch limits are tried for real. Default 64,000,000. */
  readonly limitBytes: number
  /** How long something that must happen by itself is waited for, in milliseconds. Default 5,000. */
  readonly patience: number
}

export const defaultSizes: Sizes = {
  sessions: 1_100,
  race: 16,
  lines: 2_000,
  logBytes: 1_500_000,
  limitBytes: 64_000_000,
  patience: 5_000,
}

/** What a case works with: a place of its own and storages on it, all closed and taken away when the case has ended. */
export interface Context {
  readonly capabilities: Capabilities
  readonly sizes: Sizes
  /** The storage that the case began with. */
  readonly storage: SessionStorage
  /** Another storage object on the same place; only where the storage allows two writers, or after {@link close}. */
  readonly open: () => Promise<SessionStorage>
  /** Two writers: two storage objects where the storage allows that, else one twice. */
  readonly writers: () => Promise<readonly [SessionStorage, SessionStorage]>
  /** Disposes of every storage that is open. */
  readonly close: () => Promise<void>
  /** {@link close}, then a storage that was not there before. */
  readonly reopen: () => Promise<SessionStorage>
  /** A storage on another, empty place. */
  readonly openElsewhere: () => Promise<SessionStorage>
  /** Closes everything, leaves the bytes behind the session's last line, and opens. */
  readonly tearTail: (session: string, bytes: Uint8Array) => Promise<SessionStorage>
  /** Closes everything, makes one stored line something that is no UTF-8, and opens. */
  readonly spoilLine: (session: string, seq: number) => Promise<SessionStorage>
  /** Lets the storages that are open die, and opens. */
  readonly crash: () => Promise<SessionStorage>
  /** A storage of each other adapter that the subject names, on the same place. */
  readonly across: () => Promise<readonly SessionStorage[]>
  /** Arms a fault for the next append. What it gives lets a late write arrive. */
  readonly arm: (fault: keyof Faults<unknown>) => Promise<Deliver>
  /** Ends the case: it turns out to mean nothing here. */
  readonly skip: (reason: string) => never
}

/** What {@link Context.skip} throws. */
export class Skipped extends Error {
  override readonly name = "Skipped"
}

/** A context, and what the one who runs the case needs of it. */
export interface OpenContext {
  readonly context: Context
  traces(): readonly Trace[]
  end(): Promise<void>
}

export async function openContext<L>(subject: Subject<L>, sizes: Sizes): Promise<OpenContext> {
  const locations: L[] = []
  const traces: Trace[] = []
  let opened: { readonly raw: SessionStorage; readonly storage: SessionStorage }[] = []

  async function makeLocation(): Promise<L> {
    const location = await subject.makeLocation()
    locations.push(location)
    return location
  }

  async function open(place: L, opener: Pick<Subject<L>, "open"> = subject): Promise<SessionStorage> {
    const raw = await opener.open(place)
    check(typeof raw === "object" && raw !== null, "the subject's open()", "a storage", raw)
    const { storage, trace } = traced(raw)
    traces.push(trace)
    opened.push({ raw, storage })
    return storage
  }

  async function close(): Promise<void> {
    const closing = opened
    opened = []
    for (const { storage } of closing) await storage[Symbol.asyncDispose]()
  }

  async function end(): Promise<void> {
    for (const trace of traces) trace.stop()
    try {
      await Promise.all(opened.splice(0).map(async ({ raw }) => raw[Symbol.asyncDispose]()))
    } finally {
      for (const one of locations.splice(0)) await subject.removeLocation?.(one)
    }
  }

  try {
    const location = await makeLocation()
    const storage = await open(location)
    const capabilities = capabilitiesOf(storage)
    await checkEmpty(storage)
    const context: Context = {
      capabilities,
      sizes,
      storage,
      close,
      open: () => open(location),
      writers: async () => [storage, capabilities.writers === "instance" ? storage : await open(location)],
      async reopen() {
        await close()
        return open(location)
      },
      openElsewhere: async () => open(await makeLocation()),
      async tearTail(session, bytes) {
        await close()
        await subject.tearTail?.(location, session, bytes)
        return open(location)
      },
      async spoilLine(session, seq) {
        await close()
        await subject.spoilLine?.(location, session, seq)
        return open(location)
      },
      async crash() {
        const dying = opened
        opened = []
        for (const { raw } of dying) await subject.crash?.(raw, location)
        return open(location)
      },
      async across() {
        const others: SessionStorage[] = []
        for (const other of subject.across ?? []) others.push(await open(location, other))
        return others
      },
      async arm(fault) {
        const deliver = await subject.faults?.[fault]?.(location)
        return async () => deliver?.()
      },
      skip(reason) {
        throw new Skipped(reason)
      },
    }
    return { context, traces: () => traces, end }
  } catch (error) {
    await end().catch(() => undefined)
    throw error
  }
}

function capabilitiesOf(storage: SessionStorage): Capabilities {
  const { capabilities } = storage
  if (typeof capabilities === "object" && capabilities !== null) return capabilities
  throw new Mismatch("storage.capabilities", "an object that says what the storage can do", show(capabilities))
}

/** What a case of its own run left behind would fail all the others, each in words that say nothing of the reason. */
async function checkEmpty(storage: SessionStorage): Promise<void> {
  let left: string | undefined
  try {
    for await (const { id } of storage.list()) {
      left = id
      break
    }
  } catch {
    // A list that does not work has cases of its own.
  }
  const what = "the place that the subject's makeLocation() gave"
  check(left === undefined, what, "a new, empty one for every case", `one with the session ${left}`)
}
