import copy
import torch
from torch import nn
import torch.nn.functional as F
import torchvision
from torchvision.transforms import v2


def MLP(dim, projection_size, hidden_size=4096):
    return nn.Sequential(nn.Linear(dim, hidden_size), nn.BatchNorm1d(hidden_size), nn.ReLU(inplace=True),
                         nn.Linear(hidden_size, projection_size))


class EMA:
    def __init__(self, beta):
        self.beta = beta

    def update_average(self, old, new):
        return new if old is None else old * self.beta + (1 - self.beta) * new


def update_moving_average(ema, ma_model, current_model):
    for cur, ma in zip(current_model.parameters(), ma_model.parameters()):
        ma.data = ema.update_average(ma.data, cur.data)


class LARS(torch.optim.Optimizer):
    def __init__(self, params, lr, weight_decay=1e-6, momentum=0.9, eta=0.001):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, eta=eta))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g['params']:
                dp = p.grad
                if dp is None:
                    continue
                if p.ndim > 1:
                    dp = dp.add(p, alpha=g['weight_decay'])
                    pn, un = torch.norm(p), torch.norm(dp)
                    one = torch.ones_like(pn)
                    q = torch.where(pn > 0., torch.where(un > 0, g['eta'] * pn / un, one), one)
                    dp = dp.mul(q)
                s = self.state[p]
                if 'mu' not in s:
                    s['mu'] = torch.zeros_like(p)
                s['mu'].mul_(g['momentum']).add_(dp)
                p.add_(s['mu'], alpha=-g['lr'])


class BYOL(nn.Module):
    def __init__(self, net, image_size, projection_size=256, moving_average_decay=0.99):
        super().__init__()
        dim = net.fc.in_features
        net.fc = nn.Identity()
        mk = lambda: v2.Compose([v2.RandomResizedCrop(image_size, antialias=True), v2.RandomHorizontalFlip(),
                                 v2.RandomGrayscale(0.2), v2.GaussianBlur(23)])
        self.aug1, self.aug2 = mk(), mk()
        self.online = nn.Sequential(net, MLP(dim, projection_size))
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.predictor = MLP(projection_size, projection_size)
        self.ema = EMA(moving_average_decay)

    def update(self):
        update_moving_average(self.ema, self.target, self.online)

    def forward(self, x):
        a, b = self.aug1(x), self.aug2(x)
        pa, pb = self.predictor(self.online(a)), self.predictor(self.online(b))
        with torch.no_grad():
            ta, tb = self.target(a).detach_(), self.target(b).detach_()
        f = lambda u, v: 2 - 2 * (F.normalize(u, dim=-1) * F.normalize(v, dim=-1)).sum(-1)
        return (f(pa, tb) + f(pb, ta)).mean()


learner = BYOL(torchvision.models.resnet50(), 224).cuda()
opt = LARS([p for p in learner.parameters() if p.requires_grad], lr=0.2)
for it in range(3):
    images = torch.rand(64, 3, 256, 256, device='cuda')
    loss = learner(images)
    opt.zero_grad()
    loss.backward()
    opt.step()
    learner.update()
print('done', loss.item())
