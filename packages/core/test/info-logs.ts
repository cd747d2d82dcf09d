/** Random logs with everything that session information is made from: titles, prompts that come and go, usage, metadata, branches. */
import * as fc from "fast-check"
import { HEADER } from "./logs.ts"

type Fields = Record<string, unknown>

const KINDS = {
  user: 8,
  image: 1,
  synthetic: 1,
  assistant: 5,
  usage: 1,
  tombstone: 5,
  edit: 5,
  title: 3,
  metadata: 3,
  model: 3,
  leaf: 3,
  jump: 1,
  compaction: 1,
  reset: 1,
  sameId: 2,
} as const
type Kind = keyof typeof KINDS
export type InfoStep = readonly [kind: Kind, a: number, b: number]

const kind = fc.oneof(
  ...Object.entries(KINDS).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Kind) })),
)
const number = fc.nat({ max: 9_999 })

/** Lines of a log, its header first. */
export const infoLog: fc.Arbitrary<readonly string[]> = fc
  .tuple(fc.array(fc.tuple(kind, number, number), { maxLength: 40, size: "max" }), number)
  .map(([script, n]) => writeInfoLog(script, n))

function writeInfoLog(script: readonly InfoStep[], n: number): string[] {
  const records: Fields[] = [header(n)]
  let parentId: string | null = null
  for (const [kind, a, b] of script) {
    const before = records.slice(1)
    const near = (x: number): string => String(before[x % Math.max(1, before.length)]?.["id"] ?? "none")
    // Information is made from the first prompts.
    const early = (x: number): string => near(x % Math.min(12, Math.max(1, before.length)))
    if (kind === "jump") {
      parentId = a % 6 === 0 ? null : near(b)
      continue
    }
    if (kind === "leaf") parentId = a % 6 === 0 ? null : near(b)
    const id = kind === "sameId" ? early(a) : `e${records.length}`
    const timestamp = new Date(Date.UTC(2026, 0, 31, 9, 30, a % 5 === 0 ? b % 60 : records.length)).toISOString()
    records.push({ id, parentId, seq: records.length, timestamp, ...payload(kind, a, b, early) })
    parentId = id
  }
  return records.map((record) => JSON.stringify(record))
}

function header(n: number): Fields {
  return {
    ...HEADER,
    ...(n % 3 === 0 ? { title: "from the header" } : {}),
    ...(n % 5 === 0 ? { source: "cron", cronJobId: "nightly" } : {}),
    ...(n % 7 === 0 ? { parentSession: { id: "parent" } } : {}),
    ...(n % 6 === 0 ? { kind: "langgraph" } : {}),
    ...(n % 4 === 0 ? { systemPromptOverride: "Be brief." } : {}),
  }
}

function payload(kind: Kind, a: number, b: number, target: (n: number) => string): Fields {
  switch (kind) {
    case "sameId":
      return a % 2 === 0 ? payload("user", a, b, target) : payload("metadata", a, b, target)
    case "user":
      return message({ role: "user", content: [text(b % 7 === 0 ? "  " : `say ${b}`), text("more")] })
    case "image":
      return message({ role: "user", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] })
    case "synthetic":
      return message({ role: "user", content: [text("made up")], [b % 2 === 0 ? "synthetic" : "summary"]: true })
    case "assistant":
      return message({ role: "assistant", content: [text("ok")], ...said(a, b) })
    case "usage":
      return { type: "usage", kind: "title", usage: usage(a, b) }
    case "tombstone":
      return { type: "tombstone", targetId: target(b) }
    case "edit":
      return { type: "context_edit", targetId: target(b), replacement: replacement(a) }
    case "title":
      return { type: "title_change", title: a % 4 === 0 ? null : `title ${a}`, source: b % 2 === 0 ? "user" : "auto" }
    case "metadata":
      return {
        type: "metadata",
        key: pick(["cwd", "k", "__proto__", "constructor"], a),
        value: pick(["/moved", 1, null, { x: 1 }], b),
      }
    case "model":
      return {
        type: "model_change",
        provider: "p",
        model: `m${b}`,
        ...(a % 3 === 0 ? { role: pick(["smol", "default"], b) } : {}),
      }
    case "compaction":
      return {
        type: "compaction",
        summary: "s",
        firstKeptEntryId: target(b),
        tokensBefore: 1,
        readFiles: [],
        modifiedFiles: [],
      }
    case "reset":
      return { type: "reset_boundary" }
    case "leaf":
    case "jump":
      return { type: "leaf" }
  }
}

function message(value: Fields): Fields {
  return { type: "message", message: value }
}

function text(value: string): Fields {
  return { type: "text", text: value }
}

function said(a: number, b: number): Fields {
  return {
    ...(a % 2 === 0 ? { provider: "p", model: `a${b}` } : {}),
    ...(b % 3 === 0 ? {} : { usage: usage(a, b) }),
  }
}

function usage(a: number, b: number): Fields {
  return {
    input: a,
    output: b,
    ...(a % 2 === 0 ? { cacheRead: 1, cacheWrite: 2 } : {}),
    ...(b % 2 === 0 ? { totalTokens: 7 } : {}),
    ...pick<Fields>([{}, { cost: 0.5 }, { cost: { total: 0.25, input: 9 } }], a),
  }
}

function replacement(a: number): unknown {
  return pick<unknown>([null, { content: [text(`edited ${a}`)] }, { content: [] }, { content: [text("")] }, 5], a)
}

function pick<T>(all: readonly T[], n: number): T {
  return all[n % all.length] as T
}
