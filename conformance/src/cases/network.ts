/** Cases of other servers and broken lines between an adapter and its store: whatever answers, what a call is told is true. */
import { equal, Mismatch, same } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import type { Context } from "../case/context.ts"
import { needs } from "../case/needs.ts"
import {
  DONE,
  EVERY,
  EVERY_WRITE,
  findings,
  FIRST,
  meeting,
  OPEN,
  type Outcome,
  outcomeOf,
  troublesOf,
} from "../case/tries.ts"
import { create, line, linesTo } from "../helpers/lines.ts"
import { show } from "../helpers/show.ts"
import { prepareReads, type Read, READS, type Write, WRITES } from "./network-calls.ts"

const title = {
  write:
    "is done once if it is acknowledged and not there if it is refused, whatever answers in place of the store or after it",
  read: "return what the store has or fail, whatever answers in place of the store or after it",
}

export const network: readonly Case[] = casesOf("network", [
  {
    n: 1,
    clause: "network.write",
    title: `an append ${title.write}`,
    needs: needs.network,
    run: (ctx) => tryWrites(ctx, [WRITES.create, WRITES.append]),
  },
  {
    n: 2,
    clause: "network.write",
    title: `a delete, or a replace, ${title.write}`,
    needs: needs.network,
    run: (ctx) => tryWrites(ctx, [WRITES.delete, WRITES.replace]),
  },
  {
    n: 3,
    clause: "network.write",
    title: `a change of a document or a blob ${title.write}`,
    needs: needs.network,
    run: (ctx) =>
      tryWrites(ctx, [
        WRITES.putDocument,
        WRITES.changeDocument,
        WRITES.deleteDocument,
        WRITES.putBlob,
        WRITES.deleteBlob,
      ]),
  },
  {
    n: 4,
    clause: "network.read",
    title: `head and read ${title.read}`,
    needs: needs.network,
    run: (ctx) => tryReads(ctx, [READS.head, READS.noHead, READS.read, READS.noLines, READS.window]),
  },
  {
    n: 5,
    clause: "network.read",
    title: `lists, documents and blobs ${title.read}`,
    needs: needs.network,
    run: (ctx) =>
      tryReads(ctx, [
        READS.list,
        READS.document,
        READS.noDocument,
        READS.documents,
        READS.blob,
        READS.noBlob,
        READS.hasBlob,
        READS.blobs,
      ]),
  },
  {
    n: 6,
    clause: "network.code",
    title:
      "what answers in place of the store is told as what it is, not as the state of the store or a mistake of the caller",
    needs: needs.network,
    async run(ctx) {
      await tryCodes(ctx, [WRITES.append, WRITES.changeDocument].map(callOfWrite), OF_WRITES)
      await prepareReads(ctx.storage)
      await tryCodes(ctx, [READS.head, READS.read, READS.document].map(callOfRead), OF_READS)
    },
  },
  {
    n: 7,
    clause: "network.ends",
    title: "a call ends whatever happens to its request, and the storage works as soon as the network does",
    needs: needs.network,
    run: tryEnds,
  },
])

const OF_WRITES: ReadonlySet<string> = new Set([
  DONE,
  OPEN,
  "indeterminate",
  "unavailable",
  "quota",
  "too_large",
  "misconfigured",
  "unsupported",
])
const OF_READS: ReadonlySet<string> = new Set([DONE, OPEN, "unavailable", "quota", "misconfigured"])

async function tryWrites(ctx: Context, writes: readonly Write[]): Promise<void> {
  const tries = writes.flatMap((write) =>
    troublesOf(ctx, [EVERY, EVERY_WRITE, FIRST]).map((trouble) => ({ write, trouble })),
  )
  const wrong = await findings(ctx, tries, async ({ write, trouble }, n) => {
    const { act, state } = await write.prepare(ctx.storage, n)
    const { code, text } = await meeting(ctx, trouble, act)
    const found = await state()
    const isOpen = code === OPEN || code === "indeterminate"
    const isTrue = isOpen ? found !== "neither" : found === (code === DONE ? "after" : "before")
    if (isTrue) return undefined
    const where = {
      before: "it was not done",
      after: "it was done",
      neither: "neither the old nor the new state is there",
    }[found]
    return `${write.name}, ${trouble.fault} (${trouble.reach.name}): ${text ?? "acknowledged"}, and ${where}`
  })
  none(wrong, `${tries.length} writes on a troubled network`, "each told the truth")
}

async function tryReads(ctx: Context, reads: readonly Read[]): Promise<void> {
  await prepareReads(ctx.storage)
  const right = new Map<Read, unknown>()
  for (const read of reads) right.set(read, await read.act(ctx.storage))
  const tries = reads.flatMap((read) => troublesOf(ctx, [EVERY, FIRST]).map((trouble) => ({ read, trouble })))
  const wrong = await findings(ctx, tries, async ({ read, trouble }) => {
    const { code, value } = await meeting(ctx, trouble, read.act)
    if (code !== DONE || same(value, right.get(read))) return undefined
    return `${read.name}, ${trouble.fault} (${trouble.reach.name}): ${show(value)} in place of ${show(right.get(read))}`
  })
  none(wrong, `${tries.length} reads on a troubled network`, "each with what is there, or an error")
}

interface Call {
  readonly name: string
  readonly prepare: (ctx: Context, n: number) => Promise<Read["act"]>
}

const callOfRead = ({ name, act }: Read): Call => ({ name, prepare: async () => act })

function callOfWrite({ name, prepare }: Write): Call {
  return { name, prepare: async ({ storage }, n) => (await prepare(storage, n)).act }
}

async function tryCodes(ctx: Context, calls: readonly Call[], allowed: ReadonlySet<string>): Promise<void> {
  const tries = calls.flatMap((call) => troublesOf(ctx, [EVERY]).map((trouble) => ({ call, trouble })))
  const wrong = await findings(ctx, tries, async ({ call, trouble }, n) => {
    const { code, text } = await meeting(ctx, trouble, await call.prepare(ctx, n))
    return allowed.has(code) ? undefined : `${call.name}, ${trouble.fault}: ${text}`
  })
  const codes = [...allowed].filter((code) => code !== DONE && code !== OPEN).join(", ")
  none(wrong, `the codes of ${tries.length} calls on a troubled network`, codes)
}

async function tryEnds(ctx: Context): Promise<void> {
  const { storage: direct, onNetwork, sizes, networkFaults } = ctx
  const wrong = await findings(ctx, networkFaults, async (fault, n) => {
    const session = `s${n}`
    const head = await create(direct, session, linesTo(2))
    let isTroubled = false
    const { storage, arrive } = await onNetwork(() => (isTroubled ? fault : undefined))
    await worksAgain(sizes.waitMs, () => storage.head(session))
    const calls = {
      head: () => storage.head(session),
      append: () => storage.append(session, [line(2)], { expect: head }),
      "docs.get": () => storage.docs.get(`d${n}`),
    }
    for (const [name, call] of Object.entries(calls)) {
      isTroubled = true
      const { code } = await outcomeOf(sizes.waitMs, call)
      isTroubled = false
      if (code === OPEN) return `${name}, ${fault}: it has not ended after ${sizes.waitMs} ms`
      await arrive()
      const after = await worksAgain(sizes.waitMs, async () => {
        const now = await storage.head(session)
        equal(now?.next, (await direct.head(session))?.next, "the head after the trouble")
        if (name !== "append" || now === undefined) return
        await storage.append(session, [line("next")], { expect: { next: now.next, log: now.log } })
      })
      if (after.code !== DONE) return `${name}, ${fault}, after which the network is whole again: ${after.text}`
    }
    return undefined
  })
  none(wrong, "calls on a troubled network, and then on a whole one", "each to end, and the later ones with success")
}

/** The outcome of a call that is repeated until it succeeds: on a busy machine the limits of a storage may be over before it is its turn. */
async function worksAgain(waitMs: number, call: () => Promise<unknown>): Promise<Outcome> {
  const end = performance.now() + waitMs
  for (;;) {
    const outcome = await outcomeOf(waitMs, call)
    if (outcome.code === DONE || performance.now() > end) return outcome
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Throws if something is wrong, with the first texts of what is. */
function none(wrong: readonly string[], what: string, expected: string): void {
  const more = wrong.length > SHOWN ? [`and ${wrong.length - SHOWN} more`] : []
  if (wrong.length > 0) throw new Mismatch(what, expected, [...wrong.slice(0, SHOWN), ...more].join("; "))
}

const SHOWN = 4
