/** Watches logs. One query for all watchers asks for the heads of other writers' appends; own changes are reported at once. */
import { createListeners, type Head, type Watch, watchHeads } from "@sessions/core/storage"
import type { Connection } from "./database.ts"
import type { Tables } from "./schema.ts"

export interface Watchers {
  readonly watch: Watch
  /** A log was changed by this storage object. */
  readonly changed: (session: string) => void
  /** Waits for a poll that is under way. */
  readonly close: () => Promise<void>
}

interface Row extends Head {
  readonly id: string
}

export function createWatchers(
  db: Connection,
  { session }: Tables,
  interval: number,
  head: (session: string) => Promise<Head | undefined>,
): Watchers {
  const poll = `SELECT id, log, next FROM ${session} WHERE id = ANY($1::text[])`
  const watchers = createListeners()
  /** The heads of the last poll, as texts; undefined if there was no session. */
  const known = new Map<string, string | undefined>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking: Promise<void> | undefined

  async function ask(): Promise<void> {
    const rows = await db.query<Row>(poll, [[...watchers.sessions]])
    const heads = new Map(rows.map(({ id, log, next }) => [id, `${log} ${next}`]))
    for (const id of watchers.sessions) {
      if (known.has(id) && known.get(id) === heads.get(id)) continue
      known.set(id, heads.get(id))
      watchers.notify(id)
    }
  }

  function start(): void {
    if (watchers.isEmpty || timer !== undefined || asking !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      // A server that is away for now is asked again with the next poll.
      asking = ask()
        .catch(() => undefined)
        .finally(() => {
          asking = undefined
          start()
        })
    }, interval)
  }

  return {
    changed: watchers.notify,
    watch: watchHeads({
      head,
      subscribe(id, notify) {
        const remove = watchers.add(id, notify)
        start()
        return () => {
          remove()
          if (watchers.has(id)) return
          known.delete(id)
          if (!watchers.isEmpty) return
          clearTimeout(timer)
          timer = undefined
        }
      },
    }),
    async close() {
      clearTimeout(timer)
      await asking
    },
  }
}
