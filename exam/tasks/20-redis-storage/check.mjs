import { run } from "@sessions/conformance"
import { createSessions } from "@sessions/core"
import { assert, checkUndamaged, load } from "../../lib/check.mjs"

const { createRedisStorage } = await load("storage.mjs")
const { connect, createServer } = await load("redis.mjs")
const open = (server, options = {}) =>
  createRedisStorage({ connect: () => connect(server), prefix: "agents:", ...options })

const uncaught = []
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.removeAllListeners(event)
  process.on(event, (error) => uncaught.push(error))
}
const report = await run(
  {
    name: "redis",
    makeLocation: createServer,
    open,
    faults: {
      requestLost: (server) => server.loseNext("request"),
      responseLost: (server) => server.loseNext("reply"),
    },
  },
  { sizes: { sessions: 1_001, race: 6, logBytes: 1_500_000 }, uncaughtErrors: () => uncaught.splice(0) },
)
await finish(async () => {
  const failed = report.results.filter(({ status }) => status === "failed")
  assert.equal(
    report.counts.failed,
    0,
    `the suite: ${report.counts.failed} failed, the first one ${failed[0]?.failure?.message}`,
  )
  assert.ok(report.counts.passed > 120, `only ${report.counts.passed} cases of the suite were run`)
  const { durability, atomicBatch, writers, deleteIf, maxLineBytes, maxBatchBytes, maxSessionBytes } =
    report.capabilities
  assert.ok(["os", "disk"].includes(durability), `durability: ${durability}`)
  assert.deepEqual(
    [atomicBatch, writers, deleteIf, maxLineBytes, maxBatchBytes, maxSessionBytes],
    ["all", "any", true, 1_000_000, 2_000_000, 100_000_000],
    "the capabilities",
  )

  const server = createServer()
  const [one, two] = [open(server), open(server, { prefix: "other:" })].map((storage) => createSessions({ storage }))
  const session = await one.create({ id: "chat" })
  for (let i = 0; i < 300; i++)
    await session.append({ type: "message", message: { role: "user", content: `message ${i} ${"x".repeat(9_000)}` } })
  assert.ok(
    [...server.data.keys()].every((key) => key.startsWith("agents:")),
    "a key does not begin with the prefix",
  )
  assert.equal((await two.list()).sessions.length, 0, "a storage with another prefix")
  await checkUndamaged(one)
  await one.close()

  let largest = 0
  const counting = createSessions({
    storage: open(server, { connect: () => measured(connect(server), (size) => (largest = Math.max(largest, size))) }),
  })
  const again = await counting.open("chat")
  assert.equal((await again.context()).messages.length, 300)
  await counting.verify("chat")
  assert.ok(largest < 2_500_000, `a single answer of the server had ${largest} characters, of a session of 2,700,000`)
  largest = 0
  await again.append({ type: "message", message: { role: "user", content: "short" } })
  assert.ok(largest < 500_000, `an append reads ${largest} characters`)
  await counting.close()
})

/** Reports a failed assertion as the other graders do; errors were counted by the suite until here. */
async function finish(work) {
  try {
    await work()
    process.exit(0)
  } catch (error) {
    console.error(`WRONG: ${error instanceof assert.AssertionError ? error.message : error.stack}`)
    process.exit(1)
  }
}

/** A client that tells how long the answers of its commands are. */
function measured(client, tell) {
  const sizeOf = (value) =>
    typeof value === "string"
      ? value.length
      : Array.isArray(value)
        ? value.reduce((sum, one) => sum + sizeOf(one), 0)
        : 0
  return new Proxy(client, {
    get(target, name) {
      const command = target[name]
      if (typeof command !== "function" || name === "multi") return command
      return (...args) =>
        command(...args).then((value) => {
          tell(sizeOf(value))
          return value
        })
    },
  })
}
