/**
 * Property tests take their seed from SEED, where that is set; fast-check chooses one otherwise, and prints it with a failure. fast-check is
 * loaded only with SEED, because each test file would load it.
 */
const seed = process.env["SEED"]
if (seed !== undefined) {
  const { configureGlobal } = await import("fast-check")
  configureGlobal({ seed: Number(seed) })
}
