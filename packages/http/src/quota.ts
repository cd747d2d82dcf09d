/**
 * How many sessions and bytes a principal has, against its limits. They are counted in its storage, and what is written through the handler is
 * added until they are counted again: when the count is old, and before a write is refused. So a count is never less than what this process knows.
 */
import { type SessionStorage, utf8Length } from "@sessions/core/storage"
import type { TenantLimits } from "./limits.ts"
import { Refusal } from "./refusal.ts"

/** What a write adds. */
export interface Room {
  readonly sessions?: number
  readonly bytes: number
}

export interface Quota {
  /** Writes if there is room, else throws 507, since waiting does not help. */
  readonly within: <T>(
    tenant: object,
    storage: SessionStorage,
    room: Room | (() => Promise<Room>),
    write: () => Promise<T>,
  ) => Promise<T>
  /** Something was deleted: the next write that there is no room for counts anew. */
  readonly freed: (tenant: object) => void
}

export interface QuotaOptions {
  /** The age at which a count is made anew: what others have written in the meantime is not in it. */
  readonly recountMs: number
  /** Whether documents count: a tenant writes them itself. */
  readonly documents: boolean
  readonly now: () => number
}

interface Used {
  sessions: number
  bytes: number
  /** Writes under way, which a count may have or not. */
  readonly open: Set<Room>
  /** Milliseconds since the epoch. */
  countedAt: number
  counting: Promise<void> | undefined
  mayBeLess: boolean
}

/** A tenant that is full must not make the server count with each request. */
const LEAST_MS = 5_000

export function createQuota({ sessions, bytes }: TenantLimits, o: QuotaOptions): Quota {
  const known = new WeakMap<object, Used>()
  const most = { sessions: sessions ?? Number.POSITIVE_INFINITY, bytes: bytes ?? Number.POSITIVE_INFINITY }
  const isLimited = sessions !== undefined || bytes !== undefined

  const usedBy = (tenant: object): Used => {
    let used = known.get(tenant)
    const never = Number.NEGATIVE_INFINITY
    if (used === undefined)
      known.set(
        tenant,
        (used = { sessions: 0, bytes: 0, open: new Set(), countedAt: never, counting: undefined, mayBeLess: false }),
      )
    return used
  }

  const recount = async (used: Used, storage: SessionStorage): Promise<void> => {
    const before = { sessions: used.sessions, bytes: used.bytes }
    used.mayBeLess = false
    const found = await counted(storage, o.documents, bytes !== undefined)
    // What was written meanwhile may have come too late for the count.
    used.sessions = found.sessions + used.sessions - before.sessions
    used.bytes = found.bytes + used.bytes - before.bytes
    used.countedAt = o.now()
  }

  const count = async (used: Used, storage: SessionStorage, maxAgeMs: number): Promise<void> => {
    if (o.now() - used.countedAt <= maxAgeMs) return
    used.counting ??= recount(used, storage).finally(() => void (used.counting = undefined))
    await used.counting
  }

  /** The limit that is in the way. */
  const missing = (used: Used, room: Room): string | undefined => {
    const all = [...used.open, room]
    const sum = (of: keyof Room): number => all.reduce((total, one) => total + (one[of] ?? 0), used[of])
    if (room.sessions !== undefined && sum("sessions") > most.sessions) return `${most.sessions} sessions`
    return room.bytes > 0 && sum("bytes") > most.bytes ? `${most.bytes} bytes` : undefined
  }

  return {
    async within(tenant, storage, of, write) {
      if (!isLimited) return write()
      const room = typeof of === "function" ? await of() : of
      const used = usedBy(tenant)
      await count(used, storage, o.recountMs)
      if (missing(used, room) !== undefined) await count(used, storage, used.mayBeLess ? -1 : LEAST_MS)
      const what = missing(used, room)
      if (what !== undefined) throw full(what)
      used.open.add(room)
      try {
        const result = await write()
        used.sessions += room.sessions ?? 0
        used.bytes += room.bytes
        return result
      } finally {
        used.open.delete(room)
      }
    },
    freed(tenant) {
      const used = known.get(tenant)
      if (used !== undefined) used.mayBeLess = true
    },
  }
}

async function counted(storage: SessionStorage, documents: boolean, bytesToo: boolean): Promise<Required<Room>> {
  let sessions = 0
  let bytes = 0
  for await (const row of storage.list()) {
    sessions++
    bytes += row.error === undefined ? row.bytes : 0
  }
  if (!bytesToo) return { sessions, bytes }
  for await (const blob of storage.blobs.list()) bytes += blob.bytes
  if (!documents) return { sessions, bytes }
  for await (const key of storage.docs.list()) bytes += utf8Length((await storage.docs.get(key))?.text ?? "")
  return { sessions, bytes }
}

function full(limit: string): Refusal {
  return new Refusal(
    507,
    "quota",
    `You may have ${limit}; this would be more. Delete what you do not need. Nothing was written.`,
  )
}
