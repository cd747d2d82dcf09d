import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { createSessions, type Session } from "@sessions/core"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { connectHttpStorage } from "@sessions/http/client"
import { createStorageHandler } from "@sessions/http/server"
import { createDice } from "../../core/test/dice.ts"
import { startFaultProxy } from "../../s3/test/server/fault-proxy.ts"
import { faultsOf } from "./faults.ts"
import { serve } from "./servers/node.ts"

/** To run for ten minutes: `HTTP_PROXY_SECONDS=600 npm test -- --only conformance:node`. */
const SECONDS = Number(process.env["HTTP_PROXY_SECONDS"] ?? (process.env["DEEP"] === undefined ? 4 : 120))
/** Entries, lines and changes that are acknowledged before it ends; on a busy machine it goes on for longer. */
const LEAST = 10
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)

/** What was acknowledged, what was refused for certain, and what was left open. */
interface Outcomes {
  readonly acknowledged: string[]
  readonly refused: string[]
  readonly unknown: string[]
}

void test(`two clients write for ${SECONDS} s through a proxy that cuts, delays, repeats and answers 502: nothing lost, nothing twice`, async (t) => {
  console.info(`SEED=${SEED}`)
  const dice = createDice(SEED)
  const root = mkdtempSync(join(tmpdir(), "sessions-proxy-"))
  const late: Promise<unknown>[] = []
  // Two servers on one root. A repeat of an append may reach the other one, which knows it by its lines only.
  const storages = [0, 1].map(() => createFileStorage({ root }))
  const urls = await Promise.all(
    storages.map((storage) =>
      serve(createStorageHandler({ authorize: () => "all", storage: () => storage, onError: () => undefined })),
    ),
  )
  const targetOf = (path: string): string =>
    (/\/lines(\?|$)/.test(path) && dice.next() < 0.5 ? urls[1] : urls[0]) as string
  const proxy = await startFaultProxy(
    targetOf,
    () => dice.next(),
    faultsOf(() => dice.next(), late),
  )
  // Its listener keeps the process alive.
  t.after(() => proxy.close())
  const clients = await Promise.all([0, 1].map(() => connectHttpStorage({ url: proxy.endpoint, timeout: 2_000 })))
  const direct = createSessions({ storage: storages[0] as SessionStorage })
  const { id } = await direct.create()
  const repositories = clients.map((storage) => createSessions({ storage }))
  const sessions = await Promise.all(repositories.map((repository) => repository.open(id)))

  proxy.setFaultRate(0.25)
  const end = performance.now() + SECONDS * 1_000
  const appends: Outcomes = { acknowledged: [], refused: [], unknown: [] }
  const lines: Outcomes = { acknowledged: [], refused: [], unknown: [] }
  const counts = { done: 0, unknown: 0 }
  await Promise.all([
    ...sessions.map((session, n) => appendUntil(session, `c${n}`, end, appends)),
    ...clients.map((storage) => countUntil(storage, end, counts)),
    ...clients.map((storage, n) => appendLinesUntil(storage, `raw-${n}`, end, lines)),
  ])
  proxy.setFaultRate(0)
  // Without faults every append with an unknown outcome can be resolved.
  for (const session of sessions) await session.flush()
  for (const repository of repositories) await repository.close()
  for (const storage of clients) await storage[Symbol.asyncDispose]()
  await Promise.allSettled(late)

  const ids: string[] = []
  const names: string[] = []
  for await (const chunk of (storages[0] as SessionStorage).read(id)) {
    for (const line of chunk.lines) {
      const entry = JSON.parse(line) as { id: string; message?: { content: { text: string }[] } }
      ids.push(entry.id)
      names.push(entry.message?.content[0]?.text ?? "")
    }
  }
  const stored = new Set(ids)
  const texts: string[] = []
  for (const session of ["raw-0", "raw-1"]) {
    for await (const chunk of (storages[0] as SessionStorage).read(session)) texts.push(...chunk.lines)
  }
  const count = Number((await storages[0]?.docs.get("count"))?.text)
  assert.deepEqual(
    {
      lost: [
        ...appends.acknowledged.filter((one) => !stored.has(one)),
        ...lines.acknowledged.filter((line) => !texts.includes(line)),
      ],
      twice: ids.length - stored.size + texts.length - new Set(texts).size,
      refusedButStored: [
        ...appends.refused.filter((name) => names.includes(name)),
        ...lines.refused.filter((line) => texts.includes(line)),
      ],
      countedTooOften: Math.max(0, count - counts.done - counts.unknown),
      countsLost: Math.max(0, counts.done - count),
    },
    { lost: [], twice: 0, refusedButStored: [], countedTooOften: 0, countsLost: 0 },
  )
  await direct.close()
  for (const storage of storages) await storage[Symbol.asyncDispose]()
  rmSync(root, { recursive: true })
  const faults = Object.values(proxy.injected).reduce((all, one) => all + one, 0)
  const sum = (of: keyof Outcomes): number => appends[of].length + lines[of].length
  const outcomes = `${sum("acknowledged")} acknowledged, ${sum("refused")} refused, ${sum("unknown")} indeterminate`
  console.info(
    `measured: HTTP proxy: ${outcomes}, ${counts.done} changes of a document, ${faults} faults in ${SECONDS} s, 0 lost, 0 doubled`,
  )
})

async function appendUntil(session: Session, name: string, end: number, outcomes: Outcomes): Promise<void> {
  for (let n = 0; performance.now() < end || outcomes.acknowledged.length < LEAST; n++) {
    const appends = Array.from({ length: 3 }, async (_, k) => {
      const text = `${name} ${n} ${k}`
      try {
        const { ids } = await session.append({ type: "message", message: { role: "user", content: text } })
        outcomes.acknowledged.push(...ids)
      } catch (error) {
        const isUnknown = (error as { code?: string }).code === "indeterminate"
        outcomes[isUnknown ? "unknown" : "refused"].push(text)
      }
    })
    await Promise.all(appends)
  }
}

/** Without core, which recognizes its own entries after a conflict. */
async function appendLinesUntil(
  storage: SessionStorage,
  session: string,
  end: number,
  outcomes: Outcomes,
): Promise<void> {
  let expect: Head | 0 | undefined = 0
  for (let n = 0; performance.now() < end || outcomes.acknowledged.length < LEAST; n++) {
    const line = `${session} ${n}`
    try {
      if (expect === undefined) {
        const head = await storage.head(session)
        expect = head === undefined ? 0 : { next: head.next, log: head.log }
      }
      expect = await storage.append(session, [line], { expect })
      outcomes.acknowledged.push(line)
    } catch (error) {
      expect = undefined
      const isUnknown = (error as { code?: string }).code === "indeterminate"
      outcomes[isUnknown ? "unknown" : "refused"].push(line)
    }
  }
}

/** Adds one to the number in a document, again and again. */
async function countUntil(
  { docs }: SessionStorage,
  end: number,
  counts: { done: number; unknown: number },
): Promise<void> {
  while (performance.now() < end || counts.done < LEAST) {
    try {
      const stored = await docs.get("count")
      await docs.put("count", String(Number(stored?.text ?? 0) + 1), { expect: stored?.version ?? null })
      counts.done++
    } catch (error) {
      if ((error as { code?: string }).code === "indeterminate") counts.unknown++
    }
  }
}
