/** Histories that a property would not come to: each receiver takes their contexts. */
import type { NewEntry } from "@sessions/core"
import { expect, test } from "vitest"
import { toAnthropic } from "../src/anthropic/index.ts"
import { newSession } from "./answers.ts"
import { AI_SDK, refusedOf } from "./clients/ai-sdk.ts"
import { refusals } from "./sendable.ts"
import { refusedByAnthropic } from "./validators/anthropic.ts"

/** An imported log may have what the types do not have. */
const entry = (message: object) => ({ type: "message", message }) as NewEntry
const asks = (content: unknown = "q") => entry({ role: "user", content })
const says = (content: readonly object[], more: object = {}) => entry({ role: "assistant", content, ...more })
const system = (content: unknown) => entry({ role: "system", content })
const result = (toolCallId: string, content: readonly object[] = [text("ok")], isError = false) =>
  entry({ role: "toolResult", toolCallId, toolName: "read", isError, content })
const text = (words: string) => ({ type: "text", text: words })
const call = (id: string, name = "read", args: object = {}) => ({ type: "toolCall", id, name, arguments: args })
const thinks = (thinking: string) => ({ type: "thinking", thinking, signature: "c2ln" })
const image = (mimeType: string, data = "iVBORw0KGgo=") => ({ type: "image", mimeType, data })
const item = (fields: object | null) => ({ type: "openai:item", item: fields })
const times = <T>(count: number, of: (i: number) => T) => Array.from({ length: count }, (_, i) => of(i))

/** With the record around it as deep as a session takes. */
const deep = JSON.parse(`${'{"a":'.repeat(190)}1${"}".repeat(190)}`) as object
const odd = JSON.parse('{"__proto__":{"a":1},"constructor":1,"":""}') as object
const PROVIDERS = ["anthropic", "openai", "google", "mistral", "deepseek", "kimi", "openrouter", "acme"]

const HISTORIES: Readonly<Record<string, readonly NewEntry[]>> = {
  "deep and odd arguments": [
    asks(),
    says([call("c1", "read", deep), call("c2", "read", odd)]),
    result("c1"),
    result("c2"),
  ],
  "300 calls of which half are answered": [
    asks(),
    says(times(300, (i) => call(`c${i}`))),
    ...times(150, (i) => result(`c${i}`)),
  ],
  "300 results that are images": [
    asks(),
    says(times(300, (i) => call(`c${i}`))),
    ...times(300, (i) => result(`c${i}`, [image("image/png")])),
  ],
  "300 answers in a row": [asks(), ...times(300, (i) => says([text(`${i}`)], { stopReason: "stop" }))],
  "nothing but a result": [result("c1")],
  "nothing but an answer": [says([text("hi")])],
  "nothing but thinking": [says([thinks("hm")]), says([thinks("hm")], { provider: "anthropic" })],
  "nothing but the system": [system("Be nice.")],
  "nothing but white space": [
    system(" "),
    asks(" "),
    says([text(" ")]),
    asks("\u00a0"),
    says([text("\ufeff")]),
    asks("\u200b"),
  ],
  "a failure of white space": [asks(), says([call("c1")]), result("c1", [text("\u00a0\n")], true)],
  "a failure that is an image": [asks(), says([call("c1")]), result("c1", [image("image/bmp")], true)],
  "images of odd types": [
    asks([
      image("image/svg+xml"),
      image("image/PNG; charset=x"),
      image("application/octet-stream"),
      image("text/html", "PGI+"),
      image("image/png", ""),
      image("image/png", "data:image/png;base64,iVBORw0KGgo="),
    ]),
  ],
  "files everywhere": [
    asks([{ type: "file", path: "", mimeType: "" }]),
    says([{ type: "file", path: "a b.bin", mimeType: "x/y" }, call("c1")]),
    result("c1", [{ type: "file", path: "a", mimeType: "x/y" }]),
  ],
  "names that no provider takes": [
    asks(),
    says(
      ["mcp.server/tool name", "日本", "", "a".repeat(200), "$ref", "-x", "9"].map((name, i) => call(`c${i}`, name)),
    ),
    ...times(7, (i) => result(`c${i}`)),
  ],
  "ids that no provider takes": [
    asks(),
    says(["😀", "a\u0000b", "a\nb", " ", "  "].map((id) => call(id))),
    ...["😀", "a\u0000b", "a\nb", " ", "  "].map((id) => result(id)),
  ],
  "ids that are one when they are cleaned": [
    asks(),
    says(["a.b", "a:b", "a_b", "a b"].map((id) => call(id))),
    ...["a_b", "a.b", "a b", "a:b"].map((id) => result(id)),
  ],
  "results in another order, and their ids again": [
    asks(),
    says([call("x"), call("y")]),
    result("y"),
    result("x"),
    asks(),
    says([call("y"), call("x")]),
    result("x"),
    result("y"),
  ],
  "results before, behind and beside their calls": [
    asks(),
    result("c1"),
    says([call("c1"), call("c2")]),
    result("c1"),
    system("s"),
    asks("wait"),
    result("c2"),
    result("c2"),
  ],
  "control characters": [asks("a\u0000b\u001b[31m"), says([text("\u0000")]), asks("\u0007")],
  "answers that were cut off": [
    asks(),
    says([thinks("hm")], { provider: "anthropic", stopReason: "aborted" }),
    says([text("p")], { stopReason: "error" }),
    says([call("c1")], { stopReason: "aborted" }),
  ],
  "thinking between calls and behind the text": [
    asks(),
    says([thinks("1"), call("c1"), thinks("2"), text("a"), thinks("3")], {
      provider: "anthropic",
      stopReason: "tool_use",
    }),
    result("c1"),
  ],
  "an answer of each provider in turn": PROVIDERS.flatMap((provider, i) => [
    asks(),
    says([thinks("t"), text("a"), call(`${provider}.${i}`)], { provider, stopReason: "tool_use" }),
    result(`${provider}.${i}`),
  ]),
  "blocks that are nothing": [
    asks(),
    says(
      [
        { type: "acme:x" },
        { type: "gemini:part", part: {} },
        { type: "ai-sdk:part", part: { type: "source" } },
        item(null),
      ],
      {
        provider: "openai",
      },
    ),
    asks(),
  ],
  "references into the store of OpenAI": [
    asks(),
    says(
      [item({ type: "reasoning", id: "rs_1", summary: [] }), item({ type: "item_reference", id: "msg_1" }), text("a")],
      {
        provider: "openai",
      },
    ),
    asks(),
  ],
  "21 large images": times(21, () =>
    asks([image("image/png", btoa("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x0b\xb8\0\0\x0b\xb8"))]),
  ),
  "code of Anthropic that is gone": [
    asks(),
    says(
      [
        {
          ...call("c1"),
          native: { api: "anthropic", fields: { caller: { type: "code_execution_20250825", tool_id: "srvtoolu_9" } } },
        },
      ],
      { provider: "anthropic", stopReason: "tool_use" },
    ),
    result("c1"),
    asks(),
  ],
}

test.each(Object.entries(HISTORIES))("every receiver takes %s", async (_, entries) => {
  const session = await newSession()
  await session.append(entries)
  for (const repair of ["none", "synthesize"] as const) {
    const context = await session.context({ repair })
    expect(refusals(context)).toEqual([])
    for (const receiver of AI_SDK) expect(await refusedOf(context, receiver)).toEqual([])
  }
})

test.each(["", " ", "\n", "half \ud83d", "\u0000"])("Anthropic takes the system prompt %j", async (prompt) => {
  const session = await newSession()
  await session.append(asks())
  const context = await session.context()
  for (const cache of [true, false])
    expect(refusedByAnthropic(toAnthropic(context, { system: prompt, cache }).request)).toEqual([])
})
