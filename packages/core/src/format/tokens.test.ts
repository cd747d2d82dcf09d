import * as fc from "fast-check"
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base"
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base"
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import type { Message } from "./message.ts"
import { estimateMessage, estimateMessages } from "./tokens.ts"

const message = (...content: readonly object[]): Message => ({ role: "user", content }) as unknown as Message
const said = (text: string): Message => message({ type: "text", text })
const source = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

/** Bytes that look random, and are the same in each run. */
function bytes(count: number): Uint8Array {
  let state = 1
  return Uint8Array.from({ length: count }, () => {
    state = (state * 48_271) % 0x7fffffff
    return state >> 8
  })
}

const hex = Buffer.from(bytes(3_000)).toString("hex")
const rows = Array.from({ length: 200 }, (_, n) => ({
  id: `row-${n}`,
  ok: n % 3 === 0,
  at: n * 7_919,
  note: "two words",
}))

/** The text of each kind, and between which factors of the tokens of both tokenizers its estimate is. */
const TEXTS: Readonly<Record<string, readonly [text: string, least: number, most: number]>> = {
  English: [
    source("../../../../docs/contract.md")
      .replaceAll(/^\|.*$/gm, "")
      .slice(0, 20_000),
    0.9,
    1.2,
  ],
  code: [source("../write/write-queue.ts"), 0.9, 1.2],
  "minified code": [
    "function l(e,t){let n=Array.from({length:t.length+1},(e,t)=>t);for(let r=1;r<=e.length;r++){let i=[r];for(let a=1;a<=t.length;a++){let o=n[a-1]+(e[r-1]===t[a-1]?0:1);i.push(Math.min(o,n[a]+1,i[a-1]+1))}n=i}return n[t.length]}var u=new TextEncoder;function h(e){let t=0;for(let n of e)t+=p(n)+1;return t}",
    0.75,
    1.2,
  ],
  JSON: [JSON.stringify(rows), 0.8, 1.25],
  base64: [Buffer.from(bytes(6_000)).toString("base64"), 0.8, 1.2],
  "hexadecimal digits": [hex, 0.8, 1.2],
  "decimal digits": [hex.replaceAll(/[a-f]/g, ""), 0.8, 1.3],
  "lines of a log": [
    rows
      .map(({ at }, n) => `2026-01-31T09:30:${10 + (n % 50)}.${100 + n}Z INFO [worker-${n % 7}] GET /items/${at} 200`)
      .join("\n"),
    0.8,
    1.25,
  ],
  Chinese: [
    "大型语言模型的上下文窗口是有限的。在会话超出窗口之前，由你的模型对旧消息进行摘要，核心追加一条压缩记录。日志保留一切，只有下一次模型调用的上下文变短。请先阅读配置文件，然后修改数据库的连接参数，最后运行全部测试并报告结果。",
    0.9,
    1.7,
  ],
  Japanese: [
    "大規模言語モデルのコンテキストウィンドウには限りがあります。セッションがそれを超える前に、あなたのモデルが古いメッセージを要約し、コアが圧縮エントリを追加します。まず設定ファイルを読み、最後にすべてのテストを実行し結果を報告してください。",
    0.9,
    1.7,
  ],
  Korean: [
    "대규모 언어 모델의 컨텍스트 창은 제한되어 있습니다. 세션이 창을 초과하기 전에 모델이 오래된 메시지를 요약하고 코어가 압축 항목을 추가합니다. 먼저 설정 파일을 읽고 모든 테스트를 실행하고 결과를 보고하십시오.",
    0.9,
    1.7,
  ],
  Russian: [
    "Контекстное окно большой языковой модели ограничено. Прежде чем сессия превысит его, ваша модель обобщает старые сообщения, и ядро добавляет запись сжатия.",
    0.9,
    1.9,
  ],
}

describe("the estimate of a text is near the count of tokenizers", () => {
  test.each(Object.entries(TEXTS))("%s", (_, [text, least, most]) => {
    const estimate = estimateMessage(said(text))
    for (const count of [o200k, cl100k]) {
      expect(estimate / count(text)).toBeGreaterThan(least)
      expect(estimate / count(text)).toBeLessThan(most)
    }
  })
})

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: fc.constantFrom("a", "B", "7", "-", " ", "\n", "字", "é", "\ud83d"), maxLength: 60 }),
)

test("a long text has nearly the tokens of all its characters, also with rows of equal width", () => {
  // Each piece is short enough to be counted whole.
  const whole = (text: string): number => {
    let tokens = 0
    for (let at = 0; at < text.length; at += 480) tokens += estimateMessage(said(text.slice(at, at + 480)))
    return tokens
  }
  for (let width = 8; width <= 300; width++) {
    const row = `${"7f".repeat(width / 8)} some Words, `.slice(0, width / 2)
    const text = `${row.padEnd(width - 1)}\n`.repeat(16_000 / width)
    expect(estimateMessage(said(text)) / whole(text), `rows of ${width}`).toBeGreaterThan(0.8)
    expect(estimateMessage(said(text)) / whole(text), `rows of ${width}`).toBeLessThan(1.2)
  }
  for (const [text] of Object.values(TEXTS)) {
    const long = text.repeat(4_000 / text.length + 1)
    expect(estimateMessage(said(long)) / whole(long)).toBeGreaterThan(0.9)
    expect(estimateMessage(said(long)) / whole(long)).toBeLessThan(1.1)
  }
})

describe("laws", () => {
  test("a text has from a 16th of a token to 1.125 tokens for each UTF-16 unit", () => {
    holds(
      fc.property(anyText, (text) => {
        const tokens = estimateMessage(said(text))
        expect(tokens).toBeGreaterThanOrEqual(text.length / 16)
        expect(tokens).toBeLessThanOrEqual(Math.ceil(text.length * 1.125))
      }),
    )
  })

  test("a longer text or a further block never has fewer tokens", () => {
    holds(
      fc.property(anyText, anyText, (one, more) => {
        expect(estimateMessage(said(one + more))).toBeGreaterThanOrEqual(estimateMessage(said(one)))
        const both = estimateMessage(message({ type: "text", text: one }, { type: "text", text: more }))
        expect(both).toBeGreaterThanOrEqual(estimateMessage(said(one)))
      }),
    )
  })

  test("messages have the sum of their tokens, a whole number each", () => {
    const any = fc.record({
      role: fc.constant("user"),
      content: fc.array(
        fc.oneof(
          fc.object(),
          fc.jsonValue().map((value) => ({ type: "x:y", value })),
        ),
      ),
    })
    holds(
      fc.property(fc.array(any), (list) => {
        const messages = list as unknown as readonly Message[]
        const each = messages.map((one) => estimateMessage(one))
        expect(each.every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)).toBe(true)
        expect(estimateMessages(messages)).toBe(each.reduce((sum, tokens) => sum + tokens, 0))
      }),
      40,
    )
  })
})

test("calls count with name and arguments as JSON, commands with their output, thoughts with their text", () => {
  const call = (args: object): Message => message({ type: "toolCall", id: "c", name: "read", arguments: args })
  expect(estimateMessage(call({ path: "" }))).toBe(4)
  expect(estimateMessage(call({ path: "a".repeat(400) }))).toBe(105)
  expect(estimateMessage({ role: "bashExecution", command: "abcd", output: "efgh" })).toBe(2)
  expect(estimateMessage({ role: "pythonExecution", code: "abcd", output: "" })).toBe(1)
  expect(estimateMessage(message({ type: "thinking", thinking: "abcdefgh", signature: "x".repeat(900) }))).toBe(2)
  expect(estimateMessage({ role: "acme:notice" })).toBe(0)
})

test("blocks of other types, withheld thoughts and what a provider wants back count as JSON", () => {
  const secret = "x".repeat(4_000)
  for (const block of [
    { type: "web_search_tool_result", content: [{ encrypted_content: secret }] },
    { type: "thinking", thinking: "", signature: secret },
    { type: "thinking", thinking: "short", native: { api: "openai-responses", fields: { encrypted_content: secret } } },
    { type: "toolCall", id: "c", name: "search", arguments: {}, native: { api: "a", fields: { secret } } },
  ]) {
    expect(estimateMessage(message(block))).toBeGreaterThan(1_000)
    expect(estimateMessage(message(block))).toBeLessThan(1_100)
  }
})

test("an image is 1,600, however long its data is, also within blocks of other types", () => {
  for (const data of ["", "x".repeat(900_000), `blob:sha256:${"0".repeat(64)}`])
    expect(estimateMessage(message({ type: "image", data, mimeType: "image/png" }))).toBe(1_600)
  const data = "x".repeat(900_000)
  for (const block of [
    { source: { type: "base64", media_type: "image/png", data } },
    { inlineData: { mimeType: "image/png", data } },
    { image_url: `data:image/png;base64,${data}` },
  ]) {
    const tokens = estimateMessage(message({ type: "acme:seen", ...block }))
    expect(tokens).toBeGreaterThan(1_600)
    expect(tokens).toBeLessThan(1_640)
  }
})

test("the data of a file counts by its bytes, a file by its path", () => {
  const data = "A".repeat(400_000)
  const of = (media_type: string): number =>
    estimateMessage(message({ type: "document", source: { media_type, data } }))
  expect(of("application/pdf")).toBeCloseTo(15_000, -2)
  expect(of("text/plain")).toBeCloseTo(75_000, -2)
  expect(of("audio/mpeg")).toBeCloseTo(600, -2)
  const file = { type: "file", path: "/a/b.pdf", mimeType: "application/pdf", size: 10_000_000 }
  expect(estimateMessage(message(file))).toBeLessThan(50)
})

test("values that JSON cannot have end in an estimate", () => {
  const cyclic: Record<string, unknown> = { type: "acme:loop" }
  cyclic["self"] = cyclic
  expect(estimateMessage(message(cyclic))).toBe(0)
})
