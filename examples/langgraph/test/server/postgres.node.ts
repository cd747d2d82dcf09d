/** On a real PostgreSQL server: a thread is moved out of LangGraph's tables, and two savers use one thread at once. */
import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { Command } from "@langchain/langgraph"
import { type CheckpointTuple, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres"
import { createSessions } from "@sessions/core"
import { SessionsSaver } from "@sessions/langgraph"
import { createPostgresStorage } from "@sessions/postgres"
import { Pool } from "pg"
import { createGraph } from "../../graph.ts"
import { moveThread } from "../../move-thread.ts"

const schema = `langgraph_${process.pid}`

function openPool(t: TestContext): Pool {
  const pool = new Pool({ connectionString: process.env["POSTGRES_TEST_SERVER"] ?? "", allowExitOnIdle: true })
  t.after(() => pool.end())
  return pool
}

function open(t: TestContext, keep?: number): SessionsSaver {
  const sessions = createSessions({ storage: createPostgresStorage({ client: openPool(t), schema }) })
  const saver = new SessionsSaver({ sessions, ...(keep !== undefined && { keep }) })
  t.after(async () => {
    await saver.close()
    await sessions.close()
  })
  return saver
}

type Saver = Pick<SessionsSaver, "list">

async function listed(saver: Saver, thread: string, ns?: string): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = []
  const place = ns === undefined ? {} : { checkpoint_ns: ns }
  for await (const tuple of saver.list({ configurable: { thread_id: thread, ...place } })) tuples.push(tuple)
  return tuples
}

void test("a thread that is moved out of LangGraph's tables, twice, has equal checkpoints and goes on", async (t) => {
  const old = new PostgresSaver(openPool(t), undefined, { schema: `${schema}_old` })
  await old.setup()
  const config = { configurable: { thread_id: "trip" } }
  await createGraph(old).invoke({ city: "Rome" }, config)
  const waiting = await createGraph(old).getState(config)
  await createGraph(old).updateState(waiting.config, { steps: ["changed"] }, "plan")
  const saver = open(t)
  assert.equal(await moveThread(old, saver, "trip"), 4)
  assert.equal(await moveThread(old, saver, "trip"), 4)
  const [before, after] = [await listed(old, "trip"), await listed(saver, "trip")]
  const values = (tuples: readonly CheckpointTuple[]): unknown =>
    tuples.map(({ config: { configurable }, checkpoint, pendingWrites }) => [configurable, checkpoint, pendingWrites])
  assert.deepEqual(values(after), values(before))
  await createGraph(saver).invoke(null, config)
  const { steps } = await createGraph(saver).invoke(new Command({ resume: "yes" }), config)
  assert.deepEqual(steps, ["plan Rome", "changed", "booked in Rome"])
})

void test("of two savers that put into one thread at once and trim it, each has its newest checkpoints", async (t) => {
  const work = async (ns: string, puts = 80): Promise<void> => {
    const saver = open(t, 5)
    let last: CheckpointTuple["config"] = { configurable: { thread_id: "shared", checkpoint_ns: ns } }
    for (let n = 0; n < puts; n++) {
      const values = { channel_values: { n, same: "kept" }, channel_versions: { n: n + 1, same: 1 } }
      const changed = n === 0 ? { n: 1, same: 1 } : { n: n + 1 }
      last = await saver.put(last, { ...emptyCheckpoint(), id: uuid6(n), ...values }, META, changed)
      await saver.putWrites(last, [["n", n]], "task")
    }
  }
  await Promise.all([work("a"), work("b")])
  // Each may have written whenever the other trimmed. Alone, nothing comes between.
  await work("c", 60)
  for (const ns of ["a", "b"]) {
    const tuples = await listed(open(t), "shared", ns)
    assert.ok(tuples.length >= 5 && tuples.length < 80, `${tuples.length} checkpoints`)
    for (const [at, { checkpoint, pendingWrites }] of tuples.entries()) {
      assert.deepEqual(checkpoint.channel_values, { n: 79 - at, same: "kept" })
      assert.deepEqual(pendingWrites, [["task", "n", 79 - at]])
    }
  }
})

const META = { source: "loop", step: 0, parents: {} } as const
