/** A log whose every field tries to run something, or to load something from elsewhere. Whatever runs sets `window.ran`. */
import type { SessionStorage } from "@sessions/core/storage"
import { redactRecord } from "../src/redact.ts"

const RUN = "window.ran=1"
const SVG = btoa(`<svg xmlns="http://www.w3.org/2000/svg" onload="parent.ran=1"><script>parent.ran=1</script></svg>`)

export const PAYLOADS: readonly string[] = [
  `<script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `"><img src=x onerror="${RUN}">`,
  `'><svg onload=${RUN}>`,
  `<iframe srcdoc="<script>parent.ran=1</script>"></iframe><object data="javascript:${RUN}"></object>`,
  `<style>@import "https://evil.example/x.css"; * { background: url(https://evil.example/y) }</style>`,
  `<form action="javascript:${RUN}"><button autofocus onfocus="${RUN}">x</button></form>`,
  `[link](javascript:${RUN}) ![image](javascript:${RUN}) <javascript:${RUN}>`,
  `[link](JaVaScRiPt&colon;${RUN}) [link](&#106;avascript:${RUN}) [link](java\tscript:${RUN}) [x](vbscript:x)`,
  `[link]( "onmouseover=${RUN}") [a](https://example.org" onclick="${RUN}) [b]: javascript:${RUN}\n\n[b]`,
  `[frame](data:text/html;base64,${btoa(`<script>parent.ran=1</script>`)}) [near](./x.html) [file](file:///etc/passwd)`,
  `![svg](data:image/svg+xml;base64,${SVG}) ![far](https://evil.example/x.png) ![png](data:image/png;base64,x"onerror=${RUN})`,
  "```<img src=x onerror=window.ran=1>\n</code></pre><script>window.ran=1</script>\n```",
  '| a |\n|:--" onclick="window.ran=1|\n| <img src=x onerror=window.ran=1> |',
  `{{constructor.constructor("${RUN}")()}} \${${RUN}} __proto__`,
  `-->]]><!--<script>${RUN}</script>\u0000\u2028\ud800`,
]

/** Values of other types than a field has. */
const ODD: readonly unknown[] = [null, 0, true, [], {}, [null], { html: "<b>", __html: `<img src=x onerror=${RUN}>` }]

type Fields = Record<string, unknown>

/** Stores the session `id`. `sample`: the lines of a session with entries of many types. Returns the number of entries. */
export async function hostileSession(storage: SessionStorage, id: string, sample: readonly string[]): Promise<number> {
  const [header = "", ...lines] = sample
  const first = PAYLOADS[2] as string
  const records: Fields[] = []
  const add = (record: Fields): void => {
    const parentId = records.at(-1)?.["id"] ?? null
    records.push({
      ...record,
      id: `${PAYLOADS[records.length % PAYLOADS.length]} ${records.length}`,
      parentId,
      seq: records.length + 1,
    })
  }
  const entries = [...lines.map((line) => JSON.parse(line) as Fields), ...MORE]
  for (const entry of entries) {
    for (const payload of PAYLOADS) add(redactRecord(entry, () => payload))
    for (const odd of ODD) add(oddRecord(entry, odd))
  }
  for (const payload of PAYLOADS) for (const record of structures(payload)) add(record)
  const head = { ...(redactRecord(JSON.parse(header), () => first) as Fields), id }
  const all = [head, ...records].map((record) => JSON.stringify(record))
  await storage.append(id, all, { expect: 0 })
  return records.length
}

/** Entries of types that the sample does not have. */
const MORE: readonly Fields[] = [
  {
    type: "custom_message",
    customType: "x",
    content: [{ type: "text", text: "x" }],
    display: false,
    details: { x: "x" },
  },
  { type: "custom_message", customType: "x", content: "x", display: true },
  { type: "branch_summary", fromId: "root", summary: "x" },
  { type: "session_init", systemPrompt: "x", task: "x", tools: [{ name: "x", description: "x" }] },
  { type: "usage", kind: "x", provider: "x", model: "x", usage: { input: 1 } },
  { type: "file_snapshot", messageId: "x", files: { x: { blob: "x", version: 1 } } },
  { type: "ttsr_injection", injectedRules: ["x"] },
  { type: "mode_change", mode: "x", data: { x: "x" } },
  { type: "title_change", title: "x", source: "user" },
  { type: "metadata", key: "x", value: { x: "x" } },
  { type: "custom", customType: "x", data: { x: ["x"] } },
]

/** Each field of the entry and of its message with a value of another type. */
function oddRecord(entry: Fields, odd: unknown): Fields {
  const replaced = (fields: Fields, kept: readonly string[]): Fields =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, kept.includes(key) ? value : odd]))
  const { message } = entry
  if (typeof message !== "object" || message === null) return replaced(entry, ["type"])
  return { ...replaced(entry, ["type"]), message: replaced(message as Fields, ["role"]) }
}

/** The fields that redaction keeps: types, roles, times, ids of calls, media types. */
function structures(payload: string): readonly Fields[] {
  const timestamp = payload
  return [
    { type: payload, timestamp },
    { type: `acme:${payload}`, timestamp, data: payload },
    { type: "message", timestamp, message: { role: payload, content: payload } },
    { type: "message", timestamp, message: { role: "user", content: [{ type: payload, text: payload }] } },
    {
      type: "message",
      timestamp,
      message: {
        role: "assistant",
        stopReason: "error",
        errorMessage: payload,
        provider: payload,
        model: payload,
        content: [
          { type: "toolCall", id: payload, name: payload, arguments: { [payload]: payload } },
          { type: "image", mimeType: payload, data: payload },
          { type: "image", mimeType: `image/png${payload}`, data: "AAAA" },
          { type: "image", mimeType: "image/png", data: payload },
          { type: "image", mimeType: "image/svg+xml", data: SVG },
          { type: "file", path: payload, mimeType: payload, filename: payload },
        ],
      },
    },
    {
      type: "message",
      timestamp,
      message: { role: "toolResult", toolCallId: payload, isError: true, content: payload },
    },
    { type: "tombstone", timestamp, targetId: payload },
    { type: "context_edit", timestamp, targetId: payload, replacement: { content: payload } },
    { type: "compaction", timestamp, summary: payload, firstKeptEntryId: payload, tokensBefore: payload },
    { type: "label", timestamp, targetId: payload, label: payload },
  ]
}
