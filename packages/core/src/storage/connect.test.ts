import { expect, test, vi } from "vitest"
import { connectOnce } from "./connect.ts"

test("concurrent first calls open one connection, which close() closes", async () => {
  const open = vi.fn<() => Promise<{ id: number }>>(async () => ({ id: 1 }))
  const close = vi.fn<(connection: unknown) => void>()
  const connection = connectOnce({ open, close })
  expect(open).not.toHaveBeenCalled()
  const [one, two] = await Promise.all([connection.get(), connection.get()])
  expect(one).toBe(two)
  expect(open).toHaveBeenCalledTimes(1)
  await connection.close()
  expect(close.mock.calls).toEqual([[one]])
})

test("a connection that failed to open is opened again at the next call", async () => {
  let tries = 0
  const connection = connectOnce({
    async open() {
      if (++tries === 1) throw new Error("not yet")
      return tries
    },
    close: () => undefined,
  })
  await expect(Promise.all([connection.get(), connection.get()])).rejects.toThrow("not yet")
  expect(await connection.get()).toBe(2)
})

test("a connection whose setup failed is closed, and opened again at the next call", async () => {
  const close = vi.fn<(connection: unknown) => void>()
  let made = 0
  const connection = connectOnce({
    open: () => ++made,
    setUp(which) {
      if (which === 1) throw new Error("not like this")
    },
    close,
  })
  await expect(connection.get()).rejects.toThrow("not like this")
  expect(close.mock.calls).toEqual([[1]])
  expect(await connection.get()).toBe(2)
})

test("closing a connection that was never opened, or failed to open, does nothing", async () => {
  const close = vi.fn<(connection: unknown) => void>()
  const connection = connectOnce({ open: () => Promise.reject(new Error("never")), close })
  await connection.close()
  await expect(connection.get()).rejects.toThrow("never")
  await connection.close()
  expect(close).not.toHaveBeenCalled()
})
