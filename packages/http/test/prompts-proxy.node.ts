import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { createSessions, type Sessions } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { createFileStorage } from "@sessions/fs"
import { createSessionClient, type SessionApiError, type SessionClient } from "@sessions/http/client"
import { createSessionHandler } from "@sessions/http/server"
import { createDice } from "../../core/test/dice.ts"
import { startFaultProxy } from "../../s3/test/server/fault-proxy.ts"
import { faultsOf } from "./faults.ts"
import { serve } from "./servers/node.ts"

/** To run for ten minutes: `HTTP_PROXY_SECONDS=600 npm test -- --only conformance:node`. */
const SECONDS = Number(process.env["HTTP_PROXY_SECONDS"] ?? (process.env["DEEP"] === undefined ? 4 : 120))
/** Prompts of a session that are sent before it ends; on a busy machine it goes on for longer. */
const LEAST = 5
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)
const SESSIONS = 2

void test(`prompts sent for ${SECONDS} s through a proxy that cuts, delays, repeats and answers 502, to two servers: each runs once, and the events have each and its end once`, async (t) => {
  console.info(`SEED=${SEED}`)
  const dice = createDice(SEED)
  const root = mkdtempSync(join(tmpdir(), "sessions-proxy-"))
  const late: Promise<unknown>[] = []
  const runs: string[] = []
  const errors: unknown[] = []
  const servers = [0, 1].map(() => startServer(root, runs, errors))
  const urls = await Promise.all(servers.map(({ handler }) => serve(handler)))
  const proxy = await startFaultProxy(
    () => dice.pick(urls),
    () => dice.next(),
    faultsOf(() => dice.next(), late),
  )
  // Its listener keeps the process alive.
  t.after(() => proxy.close())
  const direct = createSessionClient({ url: urls[0] as string })
  const created = await Promise.all(Array.from({ length: SESSIONS }, () => direct.create()))
  const through = createSessionClient({ url: proxy.endpoint })
  const stop = new AbortController()
  // What follows keeps the process alive, too.
  t.after(() => stop.abort())
  const seen = new Map<string, string[]>()
  const ends = new Map<string, string[]>()
  const following = created.map(async ({ id }) => {
    const { cursor } = await direct.load(id)
    const messages: string[] = []
    const ended: string[] = []
    seen.set(id, messages)
    ends.set(id, ended)
    // Without a stream: the proxy sends an answer when it is whole.
    for await (const { event, data } of through.events(id, { after: cursor, stream: false, signal: stop.signal })) {
      if (event === "appended") messages.push(...data.entries.filter(isMessage).map((entry) => entry.id))
      if (event !== "turn_end") continue
      assert.ok(messages.includes(data.messageId), "the end of a turn comes after its message")
      ended.push(data.messageId)
    }
  })

  proxy.setFaultRate(0.25)
  const end = performance.now() + SECONDS * 1_000
  const sent = new Map<string, string[]>(created.map(({ id }) => [id, []]))
  const senders = created.flatMap(({ id }) => [id, id])
  await Promise.all(senders.map((id) => promptUntil(through, id, end, sent.get(id) as string[])))
  proxy.setFaultRate(0)
  for (const { id } of created) await settled(servers, id)
  const stored = new Map<string, string[]>()
  for (const { id } of created) stored.set(id, await messagesOf((servers[0] as Server).sessions, id))
  const turnsOf = (id: string): string[] => (stored.get(id) ?? []).filter((one) => sent.get(id)?.includes(one))
  await until(() => created.every(({ id }) => seen.get(id)?.at(-1) === stored.get(id)?.at(-1)))
  await until(() => created.every(({ id }) => ends.get(id)?.at(-1) === turnsOf(id).at(-1)))
  stop.abort()
  await Promise.all(following)
  // Before the end: a request that the proxy has delayed may meet a server that is closing, which refuses it.
  const failures = [...errors]
  for (const { handler, sessions } of servers) {
    await handler.close()
    await sessions.close()
  }
  await Promise.allSettled(late)
  rmSync(root, { recursive: true })

  const all = [...sent.values()].flat()
  assert.deepEqual(runs.toSorted(), all.toSorted(), "each prompt runs once")
  for (const { id } of created) {
    const messages = stored.get(id) ?? []
    assert.deepEqual(seen.get(id), messages, "the events have each message once, in the order of the log")
    // More than 20 turns may end between two pages: those before are not told.
    const ended = ends.get(id) ?? []
    assert.deepEqual(ended, [...new Set(ended)], "no turn ends twice")
    const turns = turnsOf(id)
    assert.deepEqual(
      ended,
      turns.filter((one) => ended.includes(one)),
      "turns end in the order of the log",
    )
    assert.deepEqual(ended.slice(-20), turns.slice(-20))
    for (const prompt of sent.get(id) ?? []) assert.equal(messages.filter((one) => one === prompt).length, 1)
    assert.equal(messages.length, 2 * (sent.get(id)?.length ?? 0))
  }
  assert.deepEqual(failures, [])
  const faults = Object.values(proxy.injected).reduce((sum, count) => sum + count, 0)
  console.info(
    `measured: session API behind a proxy: ${all.length} prompts, ${faults} faults in ${SECONDS} s, 0 lost, 0 doubled`,
  )
})

type Server = ReturnType<typeof startServer>

function startServer(root: string, runs: string[], errors: unknown[]) {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const handler = createSessionHandler({
    authorize: () => "all",
    sessions: () => sessions,
    onError: (error) => errors.push(error),
    onTurnError: (error) => errors.push(error),
    async run({ session, message }) {
      runs.push(message.messageId)
      await session.append({ type: "message", message: { role: "assistant", content: message.text } })
    },
  })
  return { sessions, handler }
}

/** Sends one prompt after the other, each again with its id until a server has acknowledged it. */
async function promptUntil(client: SessionClient, session: string, end: number, sent: string[]): Promise<void> {
  const newId = createIds()
  for (let id = newId(); performance.now() < end || sent.length < LEAST; id = newId()) {
    sent.push(id)
    for (let isTaken = false; !isTaken; ) {
      isTaken = await client.prompt(session, { id, text: `prompt ${id}` }).then(
        () => true,
        ({ code }: SessionApiError) => {
          assert.ok(["unavailable", "indeterminate", "failed", "too_many_prompts"].includes(code), code)
          return false
        },
      )
    }
  }
}

/** No prompt waits any more. */
async function settled(servers: readonly Server[], session: string): Promise<void> {
  for (;;) {
    const left = await Promise.all(servers.map(async ({ handler }) => (await handler.runQueued(session, "all")).left))
    if (left.every((count) => count === 0)) return
  }
}

/** Each turn has a fence, too. */
function isMessage({ type }: { readonly type: string }): boolean {
  return type === "message"
}

async function messagesOf(sessions: Sessions, id: string): Promise<string[]> {
  const session = await sessions.open(id)
  await session.refresh()
  const messages: string[] = []
  for await (const entry of session.entries()) if (isMessage(entry)) messages.push(entry.id)
  await session.close()
  return messages
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => void setTimeout(resolve, 20))
}
