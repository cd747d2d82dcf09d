import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { readRedaction } from "./redaction.ts"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sessions-redaction-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function rules(text: string): Promise<(text: string) => string> {
  await writeFile(join(folder, "rules.txt"), text)
  return readRedaction("rules.txt", folder)
}

test("every match of every rule is replaced; empty lines and comments are no rules", async () => {
  const redact = await rules("# keys\r\nsk-[a-z0-9]+\r\n\n/PASSWORD=\\S+/i\n/path/with/slashes\n")
  expect(redact("sk-12 sk-ab password=x /path/with/slashes # keys")).toBe(
    "[redacted] [redacted] [redacted] [redacted] # keys",
  )
  expect(redact("nothing")).toBe("nothing")
})

test("a rule is not changed by what it replaced before, and `$` in a text means nothing", async () => {
  const redact = await rules("/secret/i")
  for (const text of ["secret", "SECRET $&", "secret"]) expect(redact(text)).toBe(text.replace(/secret/i, "[redacted]"))
})

test("a rule with other flags is no pattern of its slashes, and a file in UTF-16 no rules that match nothing", async () => {
  expect((await rules("/secret/gi"))("a Secret")).toBe("a [redacted]")
  for (const rule of ["/secret/I", "/secret/y", "/secret/iv"])
    await expect(rules(rule), rule).rejects.toThrow(/^line 1 of rules.txt has the flags .*: use i, m, s and u/)
  expect((await rules("\\/home\\/mys"))("in /home/mys")).toBe("in [redacted]")
  await expect(rules("s\0e\0c\0")).rejects.toThrow(/rules.txt is no text in UTF-8/)
})

test("a file without rules, a wrong pattern, one that matches nothing at all, and a missing file are refused", async () => {
  await expect(rules("# only a comment\n")).rejects.toThrow(/has no rules/)
  await expect(rules("good\n(")).rejects.toThrow(/line 2 of rules.txt is no regular expression/)
  await expect(rules("a*")).rejects.toThrow(/line 1 of rules.txt matches the empty text/)
  await expect(readRedaction("none.txt", folder)).rejects.toThrow(/cannot read none.txt: no such file/)
})

test("the rules of docs/inspector.md cover the usual keys, addresses and home folders, and nothing else", async () => {
  const page = await readFile(new URL("../../../../docs/inspector.md", import.meta.url), "utf8")
  const redact = await rules(/```text\n(# Keys[^]*?)```/.exec(page)?.[1] ?? "")
  const secrets = {
    "sk-ant-api03-abcdefghijklmnop": "key sk-ant-api03-abcdefghijklmnop here",
    ghp_abcdefghijklmnopqrstuvwxyz0123456789: "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    github_pat_11ABCDEFG0abcdefghij: "github_pat_11ABCDEFG0abcdefghij",
    AKIAIOSFODNN7EXAMPLE: "id AKIAIOSFODNN7EXAMPLE.",
    "xoxb-1234567890-abc": "xoxb-1234567890-abc",
    "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl": "jwt eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl",
    MIIEvQIBADANBg: "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END RSA PRIVATE KEY-----\n",
    "7f3c9a7f3c9a": "Authorization: Bearer 7f3c9a7f3c9a",
    hunter2hunter2: 'DB_PASSWORD="hunter2hunter2"',
    s3cretvalue: '{"api_key": "s3cretvalue"}',
    pa55word: "postgres://app:pa55word@db/main",
    "ada@mail.example.com": "<ada@mail.example.com>",
    lovelace: "/home/lovelace/project/a.ts",
    grace: "/Users/grace/x and C:\\Users\\grace\\x and C:\\\\Users\\\\grace\\\\x",
    "build-12.example.com": "on build-12.example.com",
  }
  for (const [secret, text] of Object.entries(secrets)) {
    expect(redact(text)).not.toContain(secret)
    expect(redact(text)).toContain("[redacted]")
  }
  for (const text of [
    "The tokens of a context are counted: 1,200 tokens.",
    "sk-short, a task-force, risk-averse people",
    "import { readFile } from 'node:fs/promises' // src/home/index.ts",
    "https://example.com/a:b/c?d=e",
    "a basic idea, a bearer of news",
    "x @decorator y",
  ])
    expect(redact(text)).toBe(text)
})
