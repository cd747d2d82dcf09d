export * from "@sessions/conformance/faults"
