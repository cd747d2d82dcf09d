/** Makes calls on a troubled network, remembers what they were told, and compares that with what is stored. */
import { type Head, type SessionStorage, toUtf8 } from "@sessions/core/storage"
import { DONE, type Outcome, outcomeOf } from "../case/tries.ts"
import { collect } from "../helpers/lines.ts"

/** A call, of which `n` names what it writes. */
export type LedgerCall = (n: number) => Promise<void>

export interface Ledger {
  /** Each as likely as another. */
  readonly calls: readonly LedgerCall[]
  /** Compares what is stored at the end with the outcome of each call. */
  readonly check: () => Promise<void>
}

export interface LedgerOptions {
  /** Milliseconds within which each call must end. */
  readonly timeLimit: number
  /** Gets the contradictions. */
  readonly wrong: string[]
}

type Truth = "done" | "refused" | "unknown"

const LOG = "a"
const DOCUMENT = "d"
/** Of a failure that changed nothing. */
const HARMLESS: ReadonlySet<string> = new Set(["unavailable", "quota", "too_large", "misconfigured"])

/** `direct` meets nothing on its way. */
export function createLedger(
  direct: SessionStorage,
  storage: SessionStorage,
  { timeLimit, wrong }: LedgerOptions,
): Ledger {
  const lines = new Map<string, { readonly truth: Truth; readonly seq: number | undefined }>()
  const creations = new Map<string, Truth>()
  const deletions = new Map<string, Truth>()
  const blobs = new Map<string, Truth>()
  /** Changes of the document that may still happen, if it is as each of them expects it. */
  const possible: { readonly from: string | undefined; readonly to: string | undefined }[] = []
  let expectAt: Head | 0 | undefined = 0

  /** The truth of an outcome. `conflict` is one only if `isConflict` says so. */
  async function truthOf(what: string, { code, text }: Outcome, isConflict?: () => Promise<boolean>): Promise<Truth> {
    if (code === DONE) return "done"
    if (code === "indeterminate") return "unknown"
    const isTrue = HARMLESS.has(code) || (code === "conflict" && (await isConflict?.()) === true)
    if (!isTrue) wrong.push(`${what}: ${text}`)
    return code === "open" ? "unknown" : "refused"
  }

  const textOfDocument = async (): Promise<string | undefined> => (await direct.docs.get(DOCUMENT))?.text

  /** What the document may be by now, if it was this. */
  function reachable(from: string | undefined): ReadonlySet<string | undefined> {
    const found = new Set([from])
    for (const text of found) for (const change of possible) if (change.from === text) found.add(change.to)
    return found
  }

  async function append(n: number): Promise<void> {
    const line = `line ${n}`
    const expect = (expectAt ??= await headOf(direct, LOG))
    const outcome = await outcomeOf(timeLimit, () => storage.append(LOG, [line], { expect }))
    const truth = await truthOf(`append of ${line}`, outcome, async () => !sameHead(await headOf(direct, LOG), expect))
    expectAt = truth === "done" ? (outcome.value as Head) : undefined
    lines.set(line, { truth, seq: truth === "done" ? (expect === 0 ? 0 : expect.next) : undefined })
  }

  async function change(n: number, to: string | undefined): Promise<void> {
    const stored = await direct.docs.get(DOCUMENT)
    const from = stored?.text
    if (from === undefined && to === undefined) return
    const outcome = await outcomeOf(timeLimit, async () => {
      if (to === undefined) await storage.docs.delete(DOCUMENT, { expect: stored?.version ?? "" })
      else await storage.docs.put(DOCUMENT, to, { expect: stored?.version ?? null })
    })
    const what = `step ${n}, a change of the document`
    const truth = await truthOf(what, outcome, async () => (await textOfDocument()) !== from)
    if (truth === "unknown") possible.push({ from, to })
    const now = await textOfDocument()
    const allowed = reachable(truth === "done" ? to : from)
    if (!allowed.has(now)) wrong.push(`${what} from ${from} to ${to} was ${truth}, and it is ${now}`)
  }

  async function read(n: number): Promise<void> {
    const before = await linesOf(direct, LOG)
    const outcome = await outcomeOf(timeLimit, () => linesOf(storage, LOG))
    const after = await linesOf(direct, LOG)
    if (outcome.code !== DONE) return void (await truthOf(`step ${n}, a read`, outcome))
    const got = outcome.value as readonly string[]
    const isPrefix = got.length >= before.length && got.every((line, seq) => line === after[seq])
    if (!isPrefix) wrong.push(`step ${n}, a read: ${got.join()} in place of ${after.join()}`)
  }

  async function list(n: number): Promise<void> {
    const stored = await sessionsOf(direct)
    const outcome = await outcomeOf(timeLimit, () => sessionsOf(storage))
    if (outcome.code !== DONE) return void (await truthOf(`step ${n}, a list`, outcome))
    const later = new Set(await sessionsOf(direct))
    const got = new Set(outcome.value as readonly string[])
    const missing = stored.filter((id) => later.has(id) && !got.has(id))
    if (missing.length > 0) wrong.push(`step ${n}, a list without ${missing.join()}`)
  }

  return {
    calls: [
      append,
      append,
      read,
      list,
      (n) => change(n, `text ${n}`),
      (n) => change(n, n % 3 === 0 ? undefined : `text ${n}`),
      async (n) => {
        const outcome = await outcomeOf(timeLimit, () => storage.blobs.put(toUtf8(`blob ${n}`)))
        blobs.set(`blob ${n}`, await truthOf(`put of blob ${n}`, outcome))
      },
      async (n) => {
        const session = `created-${n}`
        const outcome = await outcomeOf(timeLimit, () => storage.append(session, ["1", "2"], { expect: 0 }))
        creations.set(session, await truthOf(`creation of ${session}`, outcome))
      },
      async (n) => {
        const session = `deleted-${n}`
        await direct.append(session, ["1"], { expect: 0 })
        const outcome = await outcomeOf(timeLimit, () => storage.delete(session))
        deletions.set(session, await truthOf(`deletion of ${session}`, outcome))
      },
    ],

    async check() {
      const stored = await linesOf(direct, LOG)
      for (const [line, { truth, seq }] of lines) {
        const count = stored.filter((one) => one === line).length
        const isThere = count === 1 && (seq === undefined || stored[seq] === line)
        if (count > 1 || !fits(truth, isThere)) wrong.push(`${line} was ${truth}, and is there ${count} times`)
      }
      for (const [session, truth] of creations) {
        const got = (await linesOf(direct, session)).join()
        if (!fits(truth, got === "1,2") || (got !== "" && got !== "1,2"))
          wrong.push(`${session} was ${truth}, and has ${got}`)
      }
      for (const [session, truth] of deletions) {
        const isGone = (await direct.head(session)) === undefined
        if (!fits(truth, isGone)) wrong.push(`${session} was ${truth}, and is ${isGone ? "gone" : "there"}`)
      }
      const kept = new Set<string>()
      for await (const { hash } of direct.blobs.list()) kept.add(new TextDecoder().decode(await direct.blobs.get(hash)))
      for (const [text, truth] of blobs) {
        if (!fits(truth, kept.has(text)))
          wrong.push(`${text} was ${truth}, and is ${kept.has(text) ? "there" : "missing"}`)
      }
    },
  }
}

function fits(truth: Truth, isDone: boolean): boolean {
  return truth === "unknown" || isDone === (truth === "done")
}

async function headOf(storage: SessionStorage, session: string): Promise<Head | 0> {
  const head = await storage.head(session)
  return head === undefined ? 0 : { next: head.next, log: head.log }
}

function sameHead(a: Head | 0, b: Head | 0): boolean {
  return a === 0 || b === 0 ? a === b : a.next === b.next && a.log === b.log
}

async function linesOf(storage: SessionStorage, session: string): Promise<readonly string[]> {
  return (await collect(storage.read(session))).flatMap(({ lines }) => lines)
}

async function sessionsOf(storage: SessionStorage): Promise<readonly string[]> {
  return (await collect(storage.list())).map(({ id }) => id)
}
