/* SQL on the database of a running service, behind its back: what nobody but a fault or an operator does. Answers
 * the rows as text, columns parted by `|`. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export function sql(service, statement) {
  const url = service.env.EARSHOT_DATABASE_URL;
  const [command, args] = url
    ? ['psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url, '-f', '-']]
    : ['sqlite3', ['-cmd', '.timeout 10000', join(service.data, 'earshot.db')]];
  return execFileSync(command, args, { input: statement, maxBuffer: 1 << 26 }).toString().trim();
}

/* On the derived index of a node, which is always a SQLite file. */
export function indexSql(service, statement) {
  const args = ['-readonly', '-cmd', '.timeout 10000', join(service.data, 'index.db'), statement];
  return execFileSync('sqlite3', args).toString().trim();
}
