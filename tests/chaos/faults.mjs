/* What may happen to the service itself. A row: name, where it applies (`on`: databases; `needs`: something of the
 * stage), how long a recovery may take, and inject(stage, random), which resolves when the fault is over. Meanwhile
 * nobody is promised latency, and a call may be lost as the contract says; money, events and what was saved are
 * promised always. */
const sleep = (ms) => new Promise((next) => setTimeout(next, ms));
const HOUR_MS = 3600000;

export const faults = [
  {
    name: 'SIGKILL and restart',
    async inject({ service }) {
      await service.stop('SIGKILL');
      await service.restart();
    },
  },
  {
    name: 'SIGTERM and restart',
    async inject({ service }) {
      await service.stop('SIGTERM');
      await service.restart();
    },
  },
  {
    name: 'the process stands still',
    async inject({ service, stills }, random) {
      const still = { from: performance.now(), seconds: 0 };
      stills.push(still); // whoever leaves meanwhile is told of how long it was when it is over
      service.child.kill('SIGSTOP');
      await sleep(random.between(1000, 4000));
      service.child.kill('SIGCONT');
      still.seconds = (performance.now() - still.from) / 1000;
    },
  },
  {
    name: 'callers are cut off',
    async inject({ callers }, random) {
      callers.child.kill('SIGSTOP');
      await sleep(random.between(1000, 8000));
      callers.child.kill('SIGCONT');
      await sleep(2000);
    },
  },
  {
    name: 'the clock is set forward',
    async inject({ clock }, random) {
      clock.set(clock.get() + Math.round(random.between(60000, 2 * HOUR_MS)));
      await sleep(3000);
    },
  },
  {
    name: 'the clock is set back',
    async inject({ clock }, random) {
      clock.set(clock.get() - Math.round(random.between(60000, 2 * HOUR_MS)));
      await sleep(3000);
    },
  },
  {
    name: 'the disk is full',
    on: ['sqlite'],
    needs: ({ disk }) => disk.isMounted,
    async inject({ disk }, random) {
      disk.fill();
      await sleep(random.between(2000, 5000));
      disk.free();
    },
  },
  {
    name: "the database's disk is full",
    on: ['postgresql'],
    needs: ({ postgresDisk }) => postgresDisk?.isMounted,
    async inject({ postgresDisk, service }, random) {
      postgresDisk.fill();
      await sleep(random.between(2000, 5000));
      postgresDisk.free();
      await service.postgres.revive(); // a server that cannot write its log ends itself
    },
  },
  {
    name: 'the database is gone',
    on: ['postgresql'],
    async inject({ service }, random) {
      await service.postgres.halt('SIGQUIT');
      await sleep(random.between(500, 4000));
      await service.postgres.start();
    },
  },
  {
    name: 'the database stands still',
    on: ['postgresql'],
    async inject({ service }, random) {
      service.postgres.freeze(true);
      await sleep(random.between(2000, 6000));
      service.postgres.freeze(false);
    },
  },
];

export function possible(stage) {
  return faults.filter(
    (fault) => (!fault.on || fault.on.includes(stage.side.database)) && (!fault.needs || fault.needs(stage)),
  );
}
