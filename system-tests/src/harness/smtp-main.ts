// A real SMTP server, as a process of its own. Its settings are the first argument; each message it accepts and each
// attempt to sign in is one line of JSON on its output.
import { SMTPServer } from 'smtp-server';

export interface SmtpSettings {
  readonly port: number;
  readonly tls: 'none' | 'starttls' | 'implicit';
  readonly key?: string;
  readonly cert?: string;
  readonly login?: { readonly user: string; readonly password: string };
}

const settings = JSON.parse(process.argv[2] ?? '{}') as SmtpSettings;
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const server = new SMTPServer({
  secure: settings.tls === 'implicit',
  disabledCommands: settings.tls === 'starttls' ? [] : ['STARTTLS'],
  // Offers signing in without TLS as well, to see that no client does it.
  allowInsecureAuth: true,
  authOptional: settings.login === undefined,
  disableReverseLookup: true,
  closeTimeout: 100,
  ...(settings.key !== undefined && { key: settings.key, cert: settings.cert }),
  onAuth(auth, session, callback) {
    const isRight = auth.username === settings.login?.user && auth.password === settings.login?.password;
    say({ auth: isRight, secure: session.secure });
    if (isRight) callback(null, { user: auth.username ?? '' });
    else callback(Object.assign(new Error('authentication failed'), { responseCode: 535 }));
  },
  onRcptTo({ address }, _session, callback) {
    const refused = address.startsWith('refused');
    if (refused) say({ refused: address });
    callback(refused ? Object.assign(new Error(`no mailbox ${address}`), { responseCode: 550 }) : null);
  },
  onData(stream, session, callback) {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const { mailFrom, rcptTo } = session.envelope;
      say({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        raw: Buffer.concat(chunks).toString(),
        secure: session.secure,
        user: session.user ?? null,
      });
      callback(null);
    });
  },
});
server.on('error', () => undefined);
server.listen(settings.port, '127.0.0.1', () => say({ listening: true }));
