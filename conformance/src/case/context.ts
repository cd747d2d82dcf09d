/** The context of a case: its own empty location, the storages opened on it, and their cleanup when the case ends. */
import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import { check, Mismatch } from "../helpers/assert.ts"
import { show } from "../helpers/show.ts"
import type { Deliver, Faults, Meet, Subject } from "../subject.ts"
import { type Trace, traced } from "./trace.ts"

/** How much work the cases do. The defaults suit storages that answer within milliseconds; lower them for slow ones. */
export interface Sizes {
  /** Number of sessions in the case that lists many. Default 1,100: more than the 1,000 that stores commonly return per page. */
  readonly sessions: number
  /** Number of concurrent calls in a race. Default 16. */
  readonly race: number
  /** Number of lines of a long batch. Default 2,000. */
  readonly lines: number
  /** Size in bytes of a log that takes several chunks. Default 1,500,000. */
  readonly logBytes: number
  /** Limits of lines and batches up to this many bytes are tested; larger ones are skipped. Default 64,000,000. */
  readonly limitBytes: number
  /** Milliseconds to wait for something that the storage does by itself, such as a later clock tick. Default 60,000. */
  readonly waitMs: number
}

export const defaultSizes: Sizes = {
  sessions: 1_100,
  race: 16,
  lines: 2_000,
  logBytes: 1_500_000,
  limitBytes: 64_000_000,
  waitMs: 60_000,
}

/** Every storage that is opened here is closed, and every location removed, when the case ends. */
export interface Context {
  readonly capabilities: Capabilities
  readonly sizes: Sizes
  /** The storage that is open when the case begins. */
  readonly storage: SessionStorage
  /** Opens another storage object on the same location; only if the storage allows two writers, or after {@link close}. */
  readonly open: () => Promise<SessionStorage>
  /** Two storage objects if the storage allows two writers, otherwise the same one twice. */
  readonly writers: () => Promise<readonly [SessionStorage, SessionStorage]>
  /** Disposes of every storage that is open. */
  readonly close: () => Promise<void>
  /** {@link close}, then opens a new storage object. */
  readonly reopen: () => Promise<SessionStorage>
  /** Opens a storage on another, empty location. */
  readonly openElsewhere: () => Promise<SessionStorage>
  /** Closes all storages, writes the bytes behind the session's last line, and opens again. */
  readonly tearTail: (session: string, bytes: Uint8Array) => Promise<SessionStorage>
  /** Closes all storages, turns one stored line into invalid UTF-8, and opens again. */
  readonly corruptLine: (session: string, seq: number) => Promise<SessionStorage>
  /** Closes all storages, damages the head of a session, and opens again. */
  readonly corruptHead: (session: string) => Promise<SessionStorage>
  /** Whether anything in the location contains the text; undefined if the subject cannot search it. */
  readonly contains: (text: string) => Promise<boolean | undefined>
  /** Crashes all open storages, and opens again. */
  readonly crash: () => Promise<SessionStorage>
  /** Opens a storage of each adapter in the subject's `across`, on the same location. */
  readonly across: () => Promise<readonly SessionStorage[]>
  /** Arms a fault. The returned function delivers a late write, or lets removals succeed again. */
  readonly arm: (fault: keyof Faults<unknown>) => Promise<Deliver>
  /** What may happen to a request on the network of the subject; nothing if it has none. */
  readonly networkFaults: readonly string[]
  /** Opens a storage on the same location, whose requests meet what `meet` returns. */
  readonly onNetwork: (meet: Meet) => Promise<OnNetwork>
  /** Ends the case as skipped, with this reason. */
  readonly skip: (reason: string) => never
}

export interface OnNetwork {
  readonly storage: SessionStorage
  /** Lets the requests arrive that are still on their way. */
  readonly arrive: () => Promise<void>
}

/** What {@link Context.skip} throws. */
export class Skipped extends Error {
  override readonly name = "Skipped"
}

/** A context with the functions that the runner needs. */
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

  async function open(location: L, opener: Pick<Subject<L>, "open"> = subject): Promise<SessionStorage> {
    return take(await opener.open(location))
  }

  function take(raw: SessionStorage): SessionStorage {
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
      for (const location of locations.splice(0)) await subject.removeLocation?.(location)
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
      async corruptLine(session, seq) {
        await close()
        await subject.corruptLine?.(location, session, seq)
        return open(location)
      },
      async corruptHead(session) {
        await close()
        await subject.corruptHead?.(location, session)
        return open(location)
      },
      contains: async (text) => subject.contains?.(location, text),
      async crash() {
        const crashing = opened
        opened = []
        for (const { raw } of crashing) await subject.crash?.(raw, location)
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
      networkFaults: subject.network?.names ?? [],
      async onNetwork(meet) {
        if (subject.network === undefined) throw new TypeError("The subject has no network.")
        const { storage: raw, arrive } = await subject.network.open(location, meet)
        return { storage: take(raw), arrive: async () => arrive?.() }
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
  throw new Mismatch("storage.capabilities", "an object", show(capabilities))
}

/** Fails early if a location is not empty: otherwise every case would fail, with messages that hide the reason. */
async function checkEmpty(storage: SessionStorage): Promise<void> {
  let found: string | undefined
  try {
    for await (const { id } of storage.list()) {
      found = id
      break
    }
  } catch {
    // Other cases test `list`.
  }
  const what = "the location from the subject's makeLocation()"
  check(found === undefined, what, "a new, empty one for every case", `one with the session ${found}`)
}
