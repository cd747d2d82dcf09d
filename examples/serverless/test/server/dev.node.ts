/** Runs `npm run dev` and the commands that it prints. */
import assert from "node:assert/strict"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const FOLDER = fileURLToPath(new URL("../..", import.meta.url))

/** Starts `npm run dev` without npm. Resolves with what it has printed once it has printed the last command, or has ended. */
async function start(env: NodeJS.ProcessEnv) {
  const dev = spawn(process.execPath, ["dev.mjs"], { cwd: FOLDER, env: { ...process.env, PORT: "0", ...env } })
  const ended = once(dev, "exit").then(([code]) => code as number | null)
  let printed = ""
  const complete = new Promise<void>((resolve) => {
    for (const stream of [dev.stdout, dev.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text
        if (/Its messages:\ncurl .*\n/.test(printed)) resolve()
      })
  })
  await Promise.race([complete, ended])
  return { dev, ended, printed: () => printed }
}

void test("npm run dev prints two commands that work as they stand, and stops what it has started", async () => {
  const { dev, ended, printed } = await start({})
  const token = /^Token: (.+)$/m.exec(printed())?.[1] ?? ""
  const [ask = "", show = ""] = printed().match(/^curl .*$/gm) ?? []
  const run = async (command: string): Promise<Record<string, unknown>> =>
    JSON.parse((await promisify(execFile)("sh", ["-c", command])).stdout) as Record<string, unknown>
  assert.ok(ask.includes(token) && token.length > 20, printed())
  assert.equal((await run(ask))["repeated"], false)
  assert.equal((await run(ask))["repeated"], true)
  assert.equal(((await run(show))["messages"] as readonly unknown[]).length, 2)
  assert.ok("error" in (await run(show.replace(token, "another token"))))

  const [, s3 = ""] = /of (http:\S+)\. Ctrl-C/.exec(printed()) ?? []
  const [, address = ""] = /^Serving (http:[^,]+),/m.exec(printed()) ?? []
  dev.kill("SIGINT")
  assert.equal(await ended, 0)
  for (const stopped of [s3, address]) await assert.rejects(fetch(stopped), `${stopped} still answers`)
})

void test("without the S3 server npm run dev says what to install, and what to set in its place", async () => {
  const { ended, printed } = await start({ PATH: "/nowhere" })
  assert.equal(await ended, 1)
  assert.match(printed(), /needs radosgw, ceph-mon, ceph-osd \(Debian: apt-get install radosgw ceph-mon ceph-osd\)/)
  assert.match(printed(), /set BUCKET, AWS_REGION/)
})

void test("a port that is in use is named", async () => {
  const { ended, printed } = await start({ BUCKET: "b", PORT: new URL(endpointOfTests()).port })
  assert.equal(await ended, 1)
  assert.match(printed(), /The port \d+ is in use: set PORT/)
})

function endpointOfTests(): string {
  return (JSON.parse(process.env["S3_TEST_SERVER"] ?? "{}") as { endpoint: string }).endpoint
}
