import BoxCommands

await CommandLineProgram.run()
